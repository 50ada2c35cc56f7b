// Tensors under their names: the currency between files, models and updates.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace undertext {

using NamedTensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

struct TensorFile {
  NamedTensors tensors;
  Metadata metadata;
};

// UserError that names the file and the tensor when a value is NaN or infinite.
void check_finite(const NamedTensors& tensors, const std::filesystem::path& file);

// SHA-256 in hex over names, dtypes, shapes and bytes, in the order of names.
std::string hash_of(const NamedTensors& tensors);

}  // namespace undertext
