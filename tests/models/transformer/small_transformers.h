// Transformers small enough to check every number of.
#pragma once

#include "models/transformer/transformer.h"

namespace undertext {

inline TransformerConfig small_config(TransformerKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 37;
  config.width = 12;
  config.layers = 2;
  config.heads = 3;
  config.inner = 20;
  config.positions = 9;
  config.initial_deviation = 0.3;
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
