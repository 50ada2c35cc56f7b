// Files whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace undertext {

// Reads a whole text file; UserError when it cannot be read or is larger than limit bytes.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 30);

// Writes to a temporary file beside path and renames it: path holds either the old or the whole new content,
// and nothing is left behind on failure. Missing parent folders are an error that names them.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& writer);
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace undertext
