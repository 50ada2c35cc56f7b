#include "models/transformer/weights.h"

#include <ATen/ATen.h>

#include <cmath>

namespace undertext {

TransformerWeights::TransformerWeights(const TransformerConfig& config, const TransformerNames& names,
                                       const NamedTensors& parameters) {
  const auto data = [&](const std::string& name) -> const float* {
    return name.empty() ? nullptr : parameters.at(name).data_ptr<float>();
  };
  const auto norm = [&](const std::string& weight, const std::string& bias) {
    return LayerNorm{config.width, data(weight), data(bias), config.norm_epsilon};
  };
  const auto linear = [&](std::int64_t in, std::int64_t out, const std::string& weight,
                          const std::string& bias) {
    return Linear{in, out, data(weight), data(bias), names.inputs_first};
  };
  const std::int64_t d = config.width;
  token_embedding = data(names.token_embedding);
  position_embedding = data(names.position_embedding);
  type_embedding = data(names.type_embedding);
  embedding_norm = norm(names.embedding_norm_weight, names.embedding_norm_bias);
  for (std::size_t i = 0; i < names.layers.size(); ++i) {
    const LayerNames& layer = names.layers[i];
    LayerWeights weights;
    const auto parts = static_cast<std::int64_t>(layer.qkv_weight.size());
    for (std::size_t part = 0; part < layer.qkv_weight.size(); ++part)
      weights.qkv.push_back(linear(d, 3 * d / parts, layer.qkv_weight[part], layer.qkv_bias[part]));
    weights.attention = linear(d, d, layer.attention_weight, layer.attention_bias);
    weights.inner = linear(d, config.inner, layer.inner_weight, layer.inner_bias);
    weights.outer = linear(config.inner, d, layer.outer_weight, layer.outer_bias);
    weights.norm1 = norm(layer.norm1_weight, layer.norm1_bias);
    weights.norm2 = norm(layer.norm2_weight, layer.norm2_bias);
    const double scale = config.scale_attention ? 1 / std::sqrt(static_cast<double>(config.head_width())) : 1;
    weights.attention_scale =
        static_cast<float>(config.scale_by_layer ? scale / static_cast<double>(i + 1) : scale);
    layers.push_back(std::move(weights));
  }
  final_norm = norm(names.final_norm_weight, names.final_norm_bias);
  head = linear(d, d, names.head_weight, names.head_bias);
  head_norm = norm(names.head_norm_weight, names.head_norm_bias);
  output_weight = data(names.output_weight);
  output_bias = data(names.output_bias);
}

}  // namespace undertext
