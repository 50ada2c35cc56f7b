// The JSON header of a safetensors file: what it may say, and every way in which it may lie.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/named_tensors.h"

namespace undertext {

struct TensorEntry {
  std::string name;
  at::ScalarType dtype = at::kFloat;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of their bytes
  Metadata metadata;
};

// The format's own limit on the header.
inline constexpr std::uint64_t kLargestHeader = 100'000'000;

// Parses json (the header without its length) of a file whose tensors take data_size bytes. Afterwards the
// entries cover [0, data_size) without gap or overlap, each as long as its shape and type say. Anything else
// is a UserError that begins with file.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_size,
                                           const std::string& file);

}  // namespace undertext
