#include "attacks/decepticons/difference_rows.h"

#include <ATen/ATen.h>

#include "attacks/decepticons/layer_views.h"

namespace undertext {
namespace {

// The gradient itself, whatever the update's kind: (F, D) and (F), float32.
struct LayerGradient {
  at::Tensor weight, bias;
};

std::vector<LayerGradient> layer_gradients(const Transformer& model, const Observation& observation) {
  const Protocol& protocol = observation.update.protocol;
  const double sign = protocol.kind == UpdateKind::gradient ? 1 : -1 / protocol.learning_rate;
  std::vector<LayerGradient> gradients;
  for (std::size_t i = 0; i < model.names().layers.size(); ++i) {
    const LayerViews::Affine inner = layer_views(model, observation.update.tensors, i).inner;
    LayerGradient gradient{inner.weight.contiguous(), inner.bias.contiguous()};
    if (protocol.kind != UpdateKind::gradient)
      gradient = {(gradient.weight * sign).contiguous(), (gradient.bias * sign).contiguous()};
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

}  // namespace

DifferenceRows divided_differences(const Transformer& model, const Observation& observation) {
  const std::int64_t d = model.config().width, f = model.config().inner;
  DifferenceRows found;
  const std::vector<LayerGradient> gradients = layer_gradients(model, observation);
  for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
    const float *weight = gradients[layer].weight.data_ptr<float>(),
                *bias = gradients[layer].bias.data_ptr<float>();
    // The last row of a layer holds all that lies above it. Layers weigh places differently, so that nothing
    // can be taken off, except in the last one, where nothing lies above.
    const std::int64_t rows = layer + 1 < gradients.size() ? f - 1 : f;
    for (std::int64_t j = 0; j < rows; ++j) {
      const float lambda = bias[j] - (j + 1 < f ? bias[j + 1] : 0);
      if (lambda == 0) continue;
      const float *from = weight + j * d, *next = j + 1 < f ? from + d : nullptr;
      for (std::int64_t k = 0; k < d; ++k)
        found.rows.data.push_back((from[k] - (next ? next[k] : 0)) / lambda);
      found.weight.push_back(lambda);
    }
  }
  found.rows.cols = d;
  found.rows.rows = static_cast<std::int64_t>(found.weight.size());
  return found;
}

}  // namespace undertext
