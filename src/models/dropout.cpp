#include "models/dropout.h"

#include <algorithm>

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

}  // namespace undertext
