// Numpy's arrays: a Python dict literal with type, order and shape, then the numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensors/mapping.h"
#include "tensors/named_tensors.h"

namespace undertext {

struct NpyHeader {
  at::ScalarType dtype = at::kFloat;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // of the numbers, in bytes
  std::uint64_t size = 0;   // of the numbers, in bytes
};

// No longer header is read.
inline constexpr std::size_t kLargestNpyHeader = 1 << 16;

bool looks_like_npy(std::string_view bytes);

// Versions 1.0 to 3.0. `bytes` is the beginning of an array that takes `whole` bytes with its header: all of
// it, or more than kLargestNpyHeader. Messages begin with what.
NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t whole, const std::string& what);

// The array that header describes, shared with bytes where it can be: little-endian, aligned, in C's order.
at::Tensor npy_tensor(const NpyHeader& header, const SharedBytes& bytes, const std::string& what);

// A file with one array and no name.
TensorFile read_npy(const SharedBytes& bytes, const std::string& file);

// The header of a contiguous tensor, as long as a multiple of 64 bytes. UserError, which begins with what,
// for types that numpy lacks (bfloat16).
std::string npy_header(const at::Tensor& tensor, const std::string& what);

}  // namespace undertext
