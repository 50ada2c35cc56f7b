#include "defences/accounting/noisy_steps.h"

#include <bit>
#include <cmath>

#include "base/error.h"

namespace undertext {

std::int64_t nodes_above_leaf(std::int64_t leaves) {
  UNDERTEXT_CHECK(leaves > 0);
  return std::bit_width(static_cast<std::uint64_t>(leaves));
}

NoisySteps steps_of_tree(double sigma, std::int64_t leaves, std::int64_t trees) {
  return {sigma, 1, nodes_above_leaf(leaves) * trees};
}

void check_steps(std::span<const NoisySteps> composition) {
  for (const NoisySteps& part : composition) {
    if (!(part.sigma >= 0) || !std::isfinite(part.sigma))
      fail("noise multiplier: {} given, expected a number of at least 0", part.sigma);
    if (!(part.rate > 0) || part.rate > 1)
      fail("sampling rate: {} given, expected a number above 0 and at most 1", part.rate);
    if (part.steps < 0) fail("steps: {} given, expected at least 0", part.steps);
  }
}

void check_delta(double delta) {
  if (!(delta > 0) || !(delta < 1)) fail("delta: {} given, expected a number between 0 and 1", delta);
}

}  // namespace undertext
