#include "audit/experiment/places.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "audit/experiment/sources.h"
#include "base/error.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// "{size}" replaced.
std::string with_size(std::string pattern, std::int64_t size) {
  static constexpr std::string_view kMark = "{size}";
  for (std::size_t at = pattern.find(kMark); at != std::string::npos; at = pattern.find(kMark))
    pattern.replace(at, kMark.size(), std::to_string(size));
  return pattern;
}

// The files that a pattern means, sorted; stars stand in the last part alone.
std::vector<fs::path> matching(const fs::path& pattern) {
  std::vector<fs::path> found;
  std::error_code ignored;
  const fs::path folder = pattern.has_parent_path() ? pattern.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (fnmatch(pattern.filename().c_str(), name.c_str(), FNM_PERIOD) == 0 && entry.is_regular_file(ignored))
      found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::string with_tokenizer(const std::string& place, const json& model, const fs::path& file) {
  const std::string tokenizer = model.at("tokenizer"), restrict_to = model.at("restrict_to");
  if (tokenizer.empty() || !takes_tokenizer(place)) return place;
  const fs::path folder = resolved_place(tokenizer, file);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return place;
  const std::string whole = place + "@" + folder.string();
  return restrict_to.empty() ? whole : whole + "\n" + resolved_place(restrict_to, file).string();
}

}  // namespace

fs::path resolved_place(const std::string& path, const fs::path& file) {
  const fs::path given(path);
  const fs::path base = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return fs::absolute(base / given).lexically_normal();
}

std::string name_of_place(const std::string& place) {
  if (const std::size_t at = place.find('@'); place.starts_with(kBuiltIn) && at != std::string::npos)
    return fmt::format("{} ({})", place.substr(0, at),
                       fs::path(place.substr(at + 1, place.find('\n') - at - 1)).filename().string());
  return place.starts_with(kBuiltIn) ? place : fs::path(place).filename().string();
}

std::string model_place(const json& model, const fs::path& file) {
  for (const char* key : {"folder", "otherwise"}) {
    std::string given = model.at(key);
    if (is_built_in_model(given)) return with_tokenizer(given, model, file);
    const fs::path folder = resolved_place(given, file);
    std::error_code ignored;
    if (!given.empty() && fs::is_directory(folder, ignored)) return folder.string();
  }
  fail("{}: model.folder: there is no folder {}", file.string(),
       resolved_place(model.at("folder"), file).string());
}

std::vector<std::string> text_places(const json& texts, std::int64_t size, const fs::path& file) {
  for (const char* key : {"files", "otherwise"}) {
    const std::string given = texts.at(key);
    if (given == kBuiltIn || given == kRandom) return {given};
    if (given.empty()) continue;
    std::vector<std::string> places;
    for (const fs::path& path : matching(resolved_place(with_size(given, size), file)))
      places.push_back(path.string());
    if (!places.empty()) return places;
  }
  fail("{}: texts.files: there is no file {}", file.string(),
       resolved_place(with_size(texts.at("files"), size), file).string());
}

}  // namespace undertext
