// Tensors under their names: the currency between files, models and updates.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace undertext {

using NamedTensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

struct TensorFile {
  NamedTensors tensors;  // contiguous
  Metadata metadata;
  std::vector<std::string> order;  // the names, in the file's own order
  bool named = true;               // false: names say no more than a place in that order
  std::string format;              // safetensors, npz, npy, torch
};

// The name that numpy gives to the i-th of some arrays without names, and so do we: arr_0, arr_1, ...
std::string place_name(std::size_t i);

// Sets `named` once tensors and order are known. Where all names are numpy's own, the order is that of their
// numbers: archivers sort arr_10 before arr_2.
void settle_names(TensorFile& file);

// UserError that names the file and the tensor when a value is NaN or infinite.
void check_finite(const NamedTensors& tensors, const std::filesystem::path& file);

// check_finite and hash_of in one, of tensors that were just read: each is given back to its mapped file when
// it was seen, so that no more than one of them is in memory at a time.
std::string check_and_hash(const NamedTensors& tensors, const std::filesystem::path& file);

// SHA-256 in hex over names, dtypes, shapes and bytes, in the order of names.
std::string hash_of(const NamedTensors& tensors);

}  // namespace undertext
