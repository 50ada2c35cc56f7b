// Inputs of the feed-forward parts, taken apart by the bins that they fell into.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "federated/observation.h"
#include "models/transformer/transformer.h"

namespace undertext {

// A layer's first linear map: the gradient itself, whatever the update's kind; (F, D) and (F), float32.
struct LayerGradient {
  at::Tensor weight, bias;
};

std::vector<LayerGradient> layer_gradients(const Transformer& model, const Observation& observation);

struct DifferenceRows {
  Matrix<float> rows;         // (R, D): each the input of one place, or a mixture of those that share a bin
  std::vector<char> pure;     // whether its length is that of one place's input, after the norm
  std::vector<float> weight;  // of each: what the loss makes of it, lambda of eq. 3
};

// What a jump of the bias must at least be, as a share of the largest, to be somebody's: a smooth activation
// lets a little through below its threshold, and so does a disguise of this deviation.
float least_jump(double disguise);

// decepticons, eq. 3: in every layer what a row's gradient has beyond that of the next, over the same of the
// bias, wherever the latter is a jump. An input that shows in several bins is given once.
DifferenceRows divided_differences(const std::vector<LayerGradient>& gradients, float least = least_jump(0));

}  // namespace undertext
