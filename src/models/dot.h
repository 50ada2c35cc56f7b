// The product of two vectors of float32, added up in double: for sums that nearly cancel.
#pragma once

#include <array>
#include <cstdint>

namespace undertext {

inline double dot_in_double(const float* __restrict a, const float* __restrict b, std::int64_t n) {
  constexpr std::int64_t kLanes = 16;  // running sums, so that the compiler vectorises the loop
  std::array<double, kLanes> lanes{};
  std::int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l)
      lanes[static_cast<std::size_t>(l)] += static_cast<double>(a[j + l]) * static_cast<double>(b[j + l]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (; j < n; ++j) sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

}  // namespace undertext
