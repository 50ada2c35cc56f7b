// The safetensors format: a JSON header and raw little-endian tensors. Reading maps the file and copies
// nothing; no file, however hostile, can crash the reader, run code or make it allocate more than a few
// times its size.
#pragma once

#include <filesystem>

#include "tensors/named_tensors.h"

namespace undertext {

// Memory-mapped: tensors share the mapping, which lives as long as they do; a change in place never reaches
// the file. Only a tensor that the file does not align to its type is copied.
TensorFile read_safetensors(const std::filesystem::path& path);

// Atomic (temporary file, then rename). Metadata keys and values are strings, as the format asks.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata = {});

}  // namespace undertext
