#include "models/transformer/soft_transformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace undertext {
namespace {

at::Tensor activated(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::relu:
      return at::relu(x);
    case Activation::gelu:
      return at::gelu(x);
    case Activation::gelu_tanh:
      return at::gelu(x, "tanh");
    case Activation::gelu_sigmoid:
      return x * at::sigmoid(x * 1.702);
    case Activation::silu:
      return x * at::sigmoid(x);
    case Activation::tanh:
      return at::tanh(x);
  }
  return x;
}

// The graph of one call.
class Graph {
 public:
  Graph(const TransformerConfig& config, const TransformerNames& names, const NamedTensors& parameters)
      : config_(config), names_(names), p_(parameters) {}

  at::Tensor logits(const at::Tensor& inputs) const {
    at::Tensor x = inputs + p_.at(names_.position_embedding).slice(0, 0, inputs.size(1));
    if (!names_.type_embedding.empty()) x = x + p_.at(names_.type_embedding)[0];
    if (!names_.embedding_norm_weight.empty())
      x = norm(x, names_.embedding_norm_weight, names_.embedding_norm_bias);
    for (std::size_t i = 0; i < names_.layers.size(); ++i) x = layer(i, x);
    if (!names_.final_norm_weight.empty()) x = norm(x, names_.final_norm_weight, names_.final_norm_bias);
    if (!names_.head_weight.empty()) {
      x = activated(config_.activation, linear(x, names_.head_weight, names_.head_bias));
      x = norm(x, names_.head_norm_weight, names_.head_norm_bias);
    }
    at::Tensor y = at::matmul(x, p_.at(names_.output_weight).t());
    return names_.output_bias.empty() ? y : y + p_.at(names_.output_bias);
  }

 private:
  at::Tensor norm(const at::Tensor& x, const std::string& weight, const std::string& bias) const {
    return at::layer_norm(x, {config_.width}, p_.at(weight), p_.at(bias), config_.norm_epsilon);
  }
  at::Tensor linear(const at::Tensor& x, const std::string& weight, const std::string& bias) const {
    const at::Tensor& w = p_.at(weight);
    return at::matmul(x, names_.inputs_first ? w : w.t()) + p_.at(bias);
  }

  // x: (B, T, D).
  at::Tensor attention(std::size_t i, const at::Tensor& x) const {
    const LayerNames& layer = names_.layers[i];
    std::vector<at::Tensor> parts;
    for (std::size_t part = 0; part < layer.qkv_weight.size(); ++part)
      parts.push_back(linear(x, layer.qkv_weight[part], layer.qkv_bias[part]));
    if (parts.size() == 1) parts = parts[0].chunk(3, -1);
    const std::int64_t b = x.size(0), t = x.size(1);
    for (at::Tensor& part : parts)
      part = part.reshape({b, t, config_.heads, config_.head_width()}).transpose(1, 2);  // (B, H, T, D / H)
    double scale = config_.scale_attention ? 1 / std::sqrt(static_cast<double>(config_.head_width())) : 1;
    if (config_.scale_by_layer) scale /= static_cast<double>(i + 1);
    at::Tensor scores = at::matmul(parts[0], parts[1].transpose(-1, -2)) * scale;
    if (config_.causal)
      scores =
          scores.masked_fill(at::ones({t, t}, at::kBool).triu(1), -std::numeric_limits<float>::infinity());
    const at::Tensor mixed = at::matmul(at::softmax(scores, -1), parts[2]);
    return linear(mixed.transpose(1, 2).reshape({b, t, config_.width}), layer.attention_weight,
                  layer.attention_bias);
  }

  at::Tensor feed_forward(const LayerNames& layer, const at::Tensor& x) const {
    return linear(activated(config_.activation, linear(x, layer.inner_weight, layer.inner_bias)),
                  layer.outer_weight, layer.outer_bias);
  }

  at::Tensor layer(std::size_t i, at::Tensor x) const {
    const LayerNames& names = names_.layers[i];
    if (config_.norm_first) {
      x = x + attention(i, norm(x, names.norm1_weight, names.norm1_bias));
      return x + feed_forward(names, norm(x, names.norm2_weight, names.norm2_bias));
    }
    x = norm(x + attention(i, x), names.norm1_weight, names.norm1_bias);
    return norm(x + feed_forward(names, x), names.norm2_weight, names.norm2_bias);
  }

  const TransformerConfig& config_;
  const TransformerNames& names_;
  const NamedTensors& p_;
};

}  // namespace

at::Tensor SoftTransformer::logits(const NamedTensors& parameters, const at::Tensor& inputs) const {
  return Graph(config_, names_, parameters).logits(inputs);
}

}  // namespace undertext
