// Where an audit leaves its results.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace undertext {

// Made before the work, so that a folder that cannot be written is known at once; gone again when nothing
// came of it.
class OutputFolder {
 public:
  explicit OutputFolder(
      std::filesystem::path folder);  // makes it where it is missing; its parent must be there
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  std::filesystem::path results() const { return folder_ / "results.json"; }
  std::filesystem::path page() const { return folder_ / "report.html"; }

  // Both files, each whole or not at all; UserError when they cannot be written.
  void write(const nlohmann::json& results) const;

 private:
  std::filesystem::path folder_;
  bool made_ = false;
};

}  // namespace undertext
