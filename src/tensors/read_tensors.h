// Any file of tensors, told apart by what it holds, not by its name.
#pragma once

#include <filesystem>
#include <string>

#include "tensors/mapping.h"
#include "tensors/named_tensors.h"

namespace undertext {

// The file that a path means: itself, or of a folder the model file in it, by Hugging Face's order of
// preference.
std::filesystem::path tensor_file(const std::filesystem::path& path);

// Safetensors, npz, npy, torch's zip files, or the index of several such files beside it. A folder stands for
// its tensor_file(). Big tensors are mapped, not copied, and the mapping lives as long as they do; a change
// in place never reaches the file. Nothing in a file is ever executed.
TensorFile read_tensors(const std::filesystem::path& path);

// The same of bytes, which may not be an index. Messages begin with file.
TensorFile read_tensors(const SharedBytes& bytes, const std::string& file);

}  // namespace undertext
