#include "attacks/film/tail_gradient.h"

#include <ATen/ATen.h>

#include "attacks/bag_of_words.h"
#include "base/error.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

// weight: (out, in).
Matrix<double> joined(const LayerViews::Affine& of) {
  if (!of.weight.defined()) return {};
  const at::Tensor bias = of.bias.defined() ? of.bias : at::zeros({of.weight.size(0)}, of.weight.options());
  const at::Tensor both = at::cat({of.weight.t(), bias.unsqueeze(0)}).contiguous();
  Matrix<double> result(both.size(0), both.size(1));
  std::copy_n(both.data_ptr<double>(), both.numel(), result.data.begin());
  return result;
}

}  // namespace

TailGradient tail_gradient(const Observation& observation, const Transformer& model) {
  NamedTensors sums;
  for (const auto& [name, tensor] : observation.update.tensors)
    sums[name] = summed_gradient(observation, name);
  const auto last = static_cast<std::size_t>(model.config().layers - 1);
  const LayerViews views = layer_views(model, sums, last);
  if (!views.outer.weight.defined())
    fail("the update does not hold {}: the attack reads the steps of the text there",
         model.names().layers[last].outer_weight);
  return {joined(views.outer), joined(views.inner), joined(views.attention)};
}

}  // namespace undertext
