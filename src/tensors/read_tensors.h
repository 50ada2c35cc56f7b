// Any file of tensors, told apart by what it holds, not by its name.
#pragma once

#include <filesystem>
#include <string>

#include "tensors/mapping.h"
#include "tensors/named_tensors.h"

namespace undertext {

// Safetensors, npz, npy, torch's zip files, or the index of several such files beside it. A folder stands for
// the model file in it, by Hugging Face's order of preference. Big tensors are mapped, not copied, and the
// mapping lives as long as they do; a change in place never reaches the file. Nothing in a file is ever
// executed.
TensorFile read_tensors(const std::filesystem::path& path);

// The same of bytes, which may not be an index. Messages begin with file.
TensorFile read_tensors(const SharedBytes& bytes, const std::string& file);

}  // namespace undertext
