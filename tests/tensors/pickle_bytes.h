// Pickles and torch's archives made by hand, in the opcodes that torch.save uses.
#pragma once

#include <string>
#include <vector>

#include "tensors/zip_bytes.h"

namespace undertext::pickled {

inline std::string text(const std::string& value) {
  return "X" + little_endian(value.size(), 4) + value;
}
inline std::string integer(std::int64_t value) {
  return std::string("\x8a\x08", 2) + little_endian(static_cast<std::uint64_t>(value), 8);
}
inline std::string integers(const std::vector<std::int64_t>& values) {
  std::string bytes = "(";
  for (const std::int64_t value : values) bytes += integer(value);
  return bytes + "t";
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string ordered_dict() {
  return global("collections", "OrderedDict") + ")R";
}

inline std::string storage(const std::string& key, std::int64_t elements,
                           const std::string& type = "FloatStorage") {
  return "(" + text("storage") + global("torch", type) + text(key) + text("cpu") + integer(elements) + "tQ";
}
inline std::string tensor(const std::string& storage, std::int64_t offset,
                          const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage + integer(offset) + integers(shape) +
         integers(strides) + "\x89" + ordered_dict() + "tR";
}
// Elements of the storage "0", in a row.
inline std::string row(std::int64_t elements) {
  return tensor(storage("0", elements), 0, {elements}, {1});
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string bytes = "}(";
  for (const auto& [key, value] : items) bytes += text(key) + value;
  return bytes + "u";
}
inline std::string whole(const std::string& value) {
  return "\x80\x02" + value + ".";
}

// An archive with this pickle and these storages, in order "0", "1", ...
inline std::string archive(const std::string& pickle, const std::vector<std::string>& storages) {
  std::vector<ZipPart> parts = {{.name = "archive/data.pkl", .content = pickle}};
  for (std::size_t i = 0; i < storages.size(); ++i) {
    parts.push_back({.name = "archive/data/" + std::to_string(i), .content = storages[i]});
  }
  parts.push_back({.name = "archive/version", .content = "3\n"});
  return zip_bytes(parts);
}

}  // namespace undertext::pickled
