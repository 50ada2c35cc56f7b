#include "tensors/tensor_view.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace undertext {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and so are the maps");

#ifdef UNDERTEXT_FUZZ
constexpr std::uint64_t kUnfolded = 1 << 24;  // a fuzzer would find little else than how to fill memory
#else
constexpr std::uint64_t kUnfolded = 1 << 30;
#endif
constexpr std::uint64_t kRatio = 16;

}  // namespace

std::optional<std::uint64_t> bytes_of(at::IntArrayRef shape, at::ScalarType dtype) {
  std::int64_t bytes = static_cast<std::int64_t>(c10::elementSize(dtype));
  bool empty = false;
  for (const std::int64_t size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

at::Tensor tensor_on(const SharedBytes& bytes, at::ScalarType dtype, at::IntArrayRef shape,
                     const std::string& what) {
  UNDERTEXT_CHECK(bytes_of(shape, dtype) == bytes.size);
  const auto options = at::TensorOptions(dtype);
  if (bytes.size == 0) return at::empty(shape, options);
  if (dtype == at::kBool && std::ranges::any_of(bytes.view(), [](char c) { return c != 0 && c != 1; })) {
    fail("{}: holds a byte other than 0 and 1, expected truth values", what);
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data) % c10::elementSize(dtype) != 0) {
    at::Tensor copy = at::empty(shape, options);
    std::memcpy(copy.data_ptr(), bytes.data, bytes.size);
    return copy;
  }
  return at::from_blob(
      bytes.data, shape, [owner = bytes.owner](void*) {}, options);
}

void check_unfolded(std::uint64_t unfolded, std::uint64_t file_size, const std::string& file) {
  if (unfolded <= kUnfolded || unfolded / kRatio <= file_size) return;
  fail(
      "{}: unfolds from {} bytes to {}, expected at most {} times its size or {} bytes: save it uncompressed",
      file, file_size, unfolded, kRatio, kUnfolded);
}

}  // namespace undertext
