// Numpy's archives of arrays: a zip file with one .npy for each name.
#pragma once

#include <filesystem>

#include "tensors/named_tensors.h"
#include "tensors/zip_archive.h"

namespace undertext {

// Messages begin with file.
TensorFile read_npz(const ZipArchive& archive, const std::string& file);

// Stored, not compressed, and aligned, so that reading maps it. Atomic.
void write_npz(const std::filesystem::path& path, const TensorFile& content);

}  // namespace undertext
