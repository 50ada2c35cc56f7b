// GPT-2's smallest shape: 124 million weights.
#pragma once

#include "models/transformer/transformer.h"

namespace undertext {

inline TransformerConfig smallest_gpt2() {
  TransformerConfig config;
  config.kind = TransformerKind::gpt2;
  config.vocabulary = 50257;
  config.width = 768;
  config.layers = config.heads = 12;
  config.inner = 3072;
  config.positions = 1024;
  config.activation = Activation::gelu_tanh;
  config.norm_first = config.causal = config.tied = true;
  return config;
}

}  // namespace undertext
