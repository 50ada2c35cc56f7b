// The safetensors format: a JSON header and raw little-endian tensors. Reading maps the file and copies
// nothing; no file, however hostile, can crash the reader, run code or make it allocate more than a few
// times its size.
#pragma once

#include <filesystem>

#include "tensors/mapping.h"
#include "tensors/named_tensors.h"

namespace undertext {

// Memory-mapped: tensors share the mapping, which lives as long as they do; a change in place never reaches
// the file. Only a tensor that the file does not align to its type is copied.
TensorFile read_safetensors(const std::filesystem::path& path);
TensorFile read_safetensors(const SharedBytes& bytes, const std::string& file);

// Atomic (temporary file, then rename). Metadata keys and values are strings, as the format asks. The
// order is that of names, where given; tensors of wider types come first all the same.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata = {}, const std::vector<std::string>& names = {});

}  // namespace undertext
