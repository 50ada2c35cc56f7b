// Inputs of the feed-forward parts from a gradient with noise on it.
#pragma once

#include "attacks/decepticons/difference_rows.h"

namespace undertext {

// The deviation of noise on every number of the gradient; 0 where there is none: neighbouring rows are then
// equal, to least of their largest difference, wherever a bin is empty.
double noise_of(const std::vector<LayerGradient>& gradients, float least = least_jump(0));

// decepticons, appendix G: rows are cumulative sums with few jumps, at most `most` in all. Orthogonal
// matching pursuit over the steps: the jump that explains most is added, what lies between two jumps is its
// mean, until a jump explains no more than noise would. A mean over many rows has little noise left.
DifferenceRows denoised_differences(const std::vector<LayerGradient>& gradients, double noise,
                                    std::int64_t most);

// The observation without what noise alone may have moved: rows of the token embedding where it is not the
// output weight, and output biases.
Observation without_noise(const Transformer& model, const Observation& observation, double noise);

}  // namespace undertext
