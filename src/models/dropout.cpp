#include "models/dropout.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/threads.h"

namespace undertext {

void Dropout::apply(float* values, std::int64_t n) const {
  if (!acts()) return;
  constexpr std::int64_t kBlock = 1 << 14;
  parallel_for((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i)
      values[i] *= factor(static_cast<std::uint64_t>(i));
  });
}

void Dropout::apply_to_row(std::uint64_t row, const float* from, float* to, std::int64_t n) const {
  constexpr std::int64_t kDraws = 8, kChoices = 4 * kDraws;
  // In the range of 16 bits.
  const auto limit = static_cast<std::uint16_t>(std::min<std::uint64_t>(65535, (limit_ + 0x8000ull) >> 16));
  const float factor = 1 / (1 - static_cast<float>(limit) / 65536.0f);
  const auto blocks = static_cast<std::uint64_t>((n + kChoices - 1) / kChoices);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    std::array<std::uint64_t, kDraws> draws;
    const std::uint64_t place = (row * blocks + block) * kDraws;
    for (std::uint64_t d = 0; d < kDraws; ++d) draws[d] = draw(place + d);
    const auto choices = std::bit_cast<std::array<std::uint16_t, kChoices>>(draws);
    const auto first = static_cast<std::int64_t>(block) * kChoices;
    const float* x = from + first;
    float* y = to + first;
    if (first + kChoices <= n)
      for (std::int64_t i = 0; i < kChoices; ++i) y[i] = choices[i] < limit ? 0.0f : x[i] * factor;
    else
      for (std::int64_t i = 0; first + i < n; ++i) y[i] = choices[i] < limit ? 0.0f : x[i] * factor;
  }
}

}  // namespace undertext
