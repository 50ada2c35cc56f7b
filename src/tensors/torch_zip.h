// PyTorch's files since version 1.6: a zip archive with one pickle and one entry for each storage.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tensors/named_tensors.h"
#include "tensors/pickle.h"
#include "tensors/zip_archive.h"

namespace undertext {

// Whether an archive is torch's, not numpy's.
bool is_torch_zip(const ZipArchive& archive);

// The tensors of a state dict, at the top or where training scripts put it ("model", "state_dict", ...), or
// of a list, whose tensors have no names. Storages are mapped, not copied. Messages begin with file.
TensorFile read_torch_zip(const ZipArchive& archive, const std::string& file);

// An OrderedDict of tensors that torch.load reads, also with weights_only. Atomic.
void write_torch_zip(const std::filesystem::path& path, const TensorFile& content);

}  // namespace undertext
