#include "attacks/decepticons/observed_rows.h"

#include <ATen/ATen.h>

#include "base/threads.h"
#include "models/transformer/layer_views.h"

namespace undertext {

at::Tensor observed_gradient(const Observation& observation, const std::string& parameter) {
  const auto found = observation.update.tensors.find(parameter);
  if (found == observation.update.tensors.end()) return {};
  if (observation.update.protocol.kind == UpdateKind::gradient) return found->second.to(at::kFloat);
  return summed_gradient(observation, parameter).to(at::kFloat);
}

ObservedRows observed_rows(const Observation& observation, const Transformer& model, std::int64_t layers) {
  const std::int64_t d = model.config().width, bins = model.config().inner;
  ObservedRows observed;
  observed.bins = bins;
  observed.rows = Matrix<float>(layers * bins, d);
  observed.amounts.resize(static_cast<std::size_t>(layers * bins));
  parallel_for(layers, [&](std::int64_t l) {
    const LayerNames& names = model.names().layers[static_cast<std::size_t>(l)];
    NamedTensors gradient;
    for (const std::string& name : {names.inner_weight, names.inner_bias})
      gradient[name] = observed_gradient(observation, name);
    const LayerViews views = layer_views(model, gradient, static_cast<std::size_t>(l));
    const at::Tensor weight = views.inner.weight.contiguous(), bias = views.inner.bias.contiguous();
    const float* from = weight.data_ptr<float>();
    const float* sums = bias.data_ptr<float>();
    for (std::int64_t i = 0; i < bins; ++i) {
      float* to = observed.rows.row(l * bins + i);
      const bool last = i + 1 == bins;
      for (std::int64_t j = 0; j < d; ++j) to[j] = from[i * d + j] - (last ? 0.0f : from[(i + 1) * d + j]);
      observed.amounts[static_cast<std::size_t>(l * bins + i)] =
          static_cast<double>(sums[i]) - (last ? 0.0 : static_cast<double>(sums[i + 1]));
    }
  });
  return observed;
}

}  // namespace undertext
