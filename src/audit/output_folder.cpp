#include "audit/output_folder.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "report/html_page.h"

namespace undertext {

OutputFolder::OutputFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (std::filesystem::is_directory(folder_, error)) return;
  made_ = std::filesystem::create_directory(folder_, error);
  // Another process may have made it in between.
  std::error_code ignored;
  if (!made_ && !std::filesystem::is_directory(folder_, ignored))
    fail("{}: cannot make this folder: {}", folder_.string(),
         error ? error.message() : "a file has its name");
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (made_) std::filesystem::remove(folder_, ignored);  // succeeds only where it is empty
}

void OutputFolder::write(const nlohmann::json& results) const {
  const std::string page_text = html_page(results);  // first: what it refuses must not be written
  write_file(this->results(), results.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  write_file(page(), page_text);
}

}  // namespace undertext
