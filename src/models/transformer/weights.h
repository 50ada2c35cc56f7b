// The parameters of a transformer as its kernels take them: layers in the order of the computation.
#pragma once

#include <vector>

#include "models/transformer/config.h"
#include "models/transformer/layer_norm.h"
#include "models/transformer/linear.h"
#include "models/transformer/parameters.h"

namespace undertext {

struct LayerWeights {
  std::vector<Linear> qkv;  // one that gives all three, or one each
  Linear attention;         // the output projection
  Linear inner, outer;      // of the feed-forward part
  LayerNorm norm1, norm2;
  float attention_scale;
};

struct TransformerWeights {
  TransformerWeights(const TransformerConfig& config, const TransformerNames& names,
                     const NamedTensors& parameters);

  const float* token_embedding;     // (V, D)
  const float* position_embedding;  // (P, D)
  const float* type_embedding;      // (types, D); null: none
  LayerNorm embedding_norm;         // weight null: none
  std::vector<LayerWeights> layers;
  LayerNorm final_norm;  // weight null: none
  Linear head;           // weight null: none
  LayerNorm head_norm;
  const float* output_weight;  // (V, D)
  const float* output_bias;    // (V); null: none
};

}  // namespace undertext
