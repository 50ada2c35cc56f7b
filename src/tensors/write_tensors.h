// Files of tensors in the format that their name asks for.
#pragma once

#include <filesystem>
#include <string>

#include "tensors/named_tensors.h"

namespace undertext {

// The format that a path's ending asks for: safetensors (.safetensors), npz (.npz) or torch (.pt, .pth,
// .bin). UserError for other endings.
std::string format_of(const std::filesystem::path& path);

// Atomic. The tensors go out in the content's order, as far as the format keeps one. Metadata is kept by
// safetensors alone.
void write_tensors(const std::filesystem::path& path, const TensorFile& content);

}  // namespace undertext
