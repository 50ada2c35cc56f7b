// What differentially private training does, as an accountant sees it: steps that each draw a sample of the
// units of privacy, cut what every one of them adds to a norm, and add Gaussian noise to the sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace undertext {

struct NoisySteps {
  double sigma = 1;        // deviation of the noise over the norm that each unit's part is cut to
  double rate = 1;         // q: the chance of each unit, on its own, to be in a step (Poisson sampling)
  std::int64_t steps = 1;  // in all
};

// One after the other, on the same units: a composition.
using Composition = std::vector<NoisySteps>;

// A tree of noisy sums (Kairouz et al., 2021, theorem 4.1) as steps: each unit is in one leaf of each of
// `trees` and so in every one of the nodes between it and the root, floor(log2 leaves) + 1 at most of those
// that are ever used. No sampling is assumed.
std::int64_t nodes_above_leaf(std::int64_t leaves);
NoisySteps steps_of_tree(double sigma, std::int64_t leaves, std::int64_t trees);

// UserError where sigma is negative, a rate not in (0, 1], or the number of steps negative.
void check_steps(std::span<const NoisySteps> composition);
// UserError unless it is in (0, 1).
void check_delta(double delta);

}  // namespace undertext
