// Tensors that look at bytes of a file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tensors/mapping.h"

namespace undertext {

// Far above any real tensor, and as many as torch copes with.
inline constexpr std::size_t kMostDimensions = 64;
// Of tensors in a file: far above any real model, low enough that no file makes us allocate more than a few
// times its size.
inline constexpr std::size_t kMostEntries = 100'000;

// The bytes that a tensor takes; nothing when their number overflows. Zeros count as ones against overflow,
// because strides multiply them so.
std::optional<std::uint64_t> bytes_of(at::IntArrayRef shape, at::ScalarType dtype);

// A contiguous tensor of exactly these bytes, which it shares, and copies only where they are not aligned to
// their type. A byte other than 0 or 1 in a bool is a UserError that begins with `what`: it is no bool to the
// compiler, and reading it would be undefined.
at::Tensor tensor_on(const SharedBytes& bytes, at::ScalarType dtype, at::IntArrayRef shape,
                     const std::string& what);

// Some files hold less than they stand for: compressed arrays, and tensors that repeat one number by a stride
// of zero or one storage under many names. Such a file may unfold to 16 times its own size, or to 1 GiB if
// that is more: enough for the weights of sparse updates, which are almost all zeros and shrink a
// thousandfold, and little enough that no small file takes all memory. UserError beyond that.
void check_unfolded(std::uint64_t unfolded, std::uint64_t file_size, const std::string& file);

}  // namespace undertext
