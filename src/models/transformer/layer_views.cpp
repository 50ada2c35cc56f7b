#include "models/transformer/layer_views.h"

#include <ATen/ATen.h>

namespace undertext {

LayerViews layer_views(const Transformer& model, const NamedTensors& tensors, std::size_t layer) {
  const LayerNames& names = model.names().layers[layer];
  const std::int64_t d = model.config().width;
  const auto tensor = [&](const std::string& name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? at::Tensor() : found->second;
  };
  const auto matrix = [&](const std::string& name) {
    const at::Tensor weight = tensor(name);
    return weight.defined() && model.names().inputs_first ? weight.t() : weight;
  };
  // Query, key and value are three matrices, or three parts of one.
  const auto part = [&](std::int64_t which) -> LayerViews::Affine {
    const auto i = static_cast<std::size_t>(which);
    if (names.qkv_weight.size() == 3) return {matrix(names.qkv_weight[i]), tensor(names.qkv_bias[i])};
    const at::Tensor weight = matrix(names.qkv_weight[0]), bias = tensor(names.qkv_bias[0]);
    return {weight.defined() ? weight.narrow(0, which * d, d) : weight,
            bias.defined() ? bias.narrow(0, which * d, d) : bias};
  };
  return {.query = part(0),
          .key = part(1),
          .value = part(2),
          .attention = {matrix(names.attention_weight), tensor(names.attention_bias)},
          .inner = {matrix(names.inner_weight), tensor(names.inner_bias)},
          .outer = {matrix(names.outer_weight), tensor(names.outer_bias)},
          .norm1 = {tensor(names.norm1_weight), tensor(names.norm1_bias)},
          .norm2 = {tensor(names.norm2_weight), tensor(names.norm2_bias)}};
}

}  // namespace undertext
