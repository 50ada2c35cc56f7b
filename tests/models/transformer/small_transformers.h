// Transformers small enough to check every number of.
#pragma once

#include "models/transformer/transformer.h"

namespace undertext {

struct SmallShape {
  std::int64_t vocabulary = 37, width = 12, layers = 2, heads = 3, inner = 20, positions = 9;
  double deviation = 0.3;  // of random weights
};

inline TransformerConfig small_config(TransformerKind kind, const SmallShape& shape = {}) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = shape.vocabulary;
  config.width = shape.width;
  config.layers = shape.layers;
  config.heads = shape.heads;
  config.inner = shape.inner;
  config.positions = shape.positions;
  config.initial_deviation = shape.deviation;
  config.norm_epsilon = 1e-5;
  if (kind == TransformerKind::gpt2) {
    config.norm_first = config.causal = config.tied = true;
    config.activation = Activation::gelu_tanh;
  } else if (kind == TransformerKind::bert) {
    config.types = 2;
    config.tied = true;
    config.activation = Activation::gelu;
  }
  return config;
}

// Norms that are not one and zero, and biases that are not zero: otherwise half of the gradients would be
// untested.
inline std::unique_ptr<Transformer> small_transformer(const TransformerConfig& config) {
  NamedTensors parameters = random_parameters(config, Seed(5));
  for (auto& [name, tensor] : parameters)
    add_normal_noise(Seed(6).derive(name), 0.1f, tensor.data_ptr<float>(), tensor.numel());
  auto model = std::make_unique<Transformer>(config, parameters);
  model->set_mask(36);
  return model;
}

inline std::vector<Sentence> small_sentences() {
  return {{3, 1, 4, 1, 5, 9, 2, 6, 5}, {35, 8, 9}, {7, 9}, {11, 12, 13, 14, 3}};
}

}  // namespace undertext
