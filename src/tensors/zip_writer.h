// Zip archives of tensors, stored and aligned so that they can be mapped again.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace undertext {

struct ZipPiece {
  std::string name;
  std::string text;   // what the entry begins with
  at::Tensor tensor;  // and the bytes that follow; may be undefined
};

// Atomic; the same pieces give the same bytes. Each entry begins at a multiple of 64 bytes. Numbers from
// zip64_from on go into zip64 records (a smaller one is for tests).
void write_zip(const std::filesystem::path& path, std::span<const ZipPiece> pieces,
               std::uint64_t zip64_from = 0xFFFFFFFF);

}  // namespace undertext
