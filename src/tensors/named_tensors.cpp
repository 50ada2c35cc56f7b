#include "tensors/named_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/sha256.h"
#include "base/threads.h"
#include "tensors/dtypes.h"
#include "tensors/mapping.h"

namespace undertext {
namespace {

// The first i in [0, n) whose exponent bits are all ones (NaN or infinity), or n.
template <typename Bits>
std::int64_t first_not_finite(const void* data, std::int64_t n, Bits exponent) {
  constexpr std::int64_t kBlock = 1 << 18;
  const auto* bits = static_cast<const Bits*>(data);
  std::atomic<std::int64_t> first{n};
  parallel_for((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t begin = block * kBlock, end = std::min(n, begin + kBlock);
    if (begin > first) return;
    bool found = false;  // without an early exit the compiler vectorises this loop
    for (std::int64_t i = begin; i < end; ++i) found |= (bits[i] & exponent) == exponent;
    if (!found) return;
    std::int64_t i = begin;
    while ((bits[i] & exponent) != exponent) ++i;
    for (std::int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
    }
  });
  return first;
}

std::int64_t first_not_finite(const at::Tensor& tensor) {
  const void* data = tensor.data_ptr();
  const std::int64_t n = tensor.numel();
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return first_not_finite<std::uint64_t>(data, n, 0x7FF0000000000000u);
    case at::kFloat:
      return first_not_finite<std::uint32_t>(data, n, 0x7F800000u);
    case at::kHalf:
      return first_not_finite<std::uint16_t>(data, n, 0x7C00u);
    case at::kBFloat16:
      return first_not_finite<std::uint16_t>(data, n, 0x7F80u);
    default:
      return n;  // integers have neither
  }
}

void check_finite(const std::string& name, const at::Tensor& tensor, const std::filesystem::path& file) {
  const at::Tensor dense = tensor.contiguous();
  const std::int64_t i = first_not_finite(dense);
  if (i == dense.numel()) return;
  const double value = dense.reshape(-1)[i].item<double>();
  fail("{}: tensor {} holds {} at element {}, expected finite numbers", file.string(), quote(name),
       value != value ? "NaN" : "infinity", i);
}

void add(Sha256& hash, const std::string& name, const at::Tensor& tensor) {
  const std::string_view dtype = name_of(tensor.scalar_type());
  UNDERTEXT_CHECK(!dtype.empty());
  hash.add_string(name);
  hash.add_string(dtype);
  hash.add_number(static_cast<std::uint64_t>(tensor.dim()));
  for (const std::int64_t size : tensor.sizes()) hash.add_number(static_cast<std::uint64_t>(size));
  const at::Tensor dense = tensor.contiguous();
  hash.add(dense.data_ptr(), dense.nbytes());
}

constexpr std::string_view kPlace = "arr_";

// The number in arr_12; nothing for any other name.
std::optional<std::size_t> place_of(std::string_view name) {
  if (!name.starts_with(kPlace)) return std::nullopt;
  const std::string_view digits = name.substr(kPlace.size());
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && name == place_name(place) ? std::optional(place) : std::nullopt;
}

}  // namespace

std::string place_name(std::size_t i) {
  return fmt::format("{}{}", kPlace, i);
}

void settle_names(TensorFile& file) {
  UNDERTEXT_CHECK(file.order.size() == file.tensors.size());
  file.named = file.order.empty() ||
               !std::ranges::all_of(file.order, [](const auto& name) { return place_of(name).has_value(); });
  if (!file.named) std::ranges::sort(file.order, {}, place_of);
}

void check_finite(const NamedTensors& tensors, const std::filesystem::path& file) {
  for (const auto& [name, tensor] : tensors) check_finite(name, tensor, file);
}

std::string hash_of(const NamedTensors& tensors) {
  Sha256 hash;
  for (const auto& [name, tensor] : tensors) add(hash, name, tensor);
  return hash.hex();
}

std::string check_and_hash(const NamedTensors& tensors, const std::filesystem::path& file) {
  Sha256 hash;
  for (const auto& [name, tensor] : tensors) {
    check_finite(name, tensor, file);
    add(hash, name, tensor);
    release_unchanged(tensor.data_ptr(), tensor.nbytes());
  }
  return hash.hex();
}

}  // namespace undertext
