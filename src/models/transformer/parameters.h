// The parameters of each kind of transformer: their names in its framework, their order there and their
// shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "models/language_model.h"
#include "models/transformer/config.h"
#include "tensors/named_tensors.h"

namespace undertext {

// Names of one layer's parameters. Attention's inputs are one matrix (query, key and value beside each
// other) or three.
struct LayerNames {
  std::vector<std::string> qkv_weight, qkv_bias;  // 1 or 3
  std::string attention_weight, attention_bias;   // of the output projection
  std::string norm1_weight, norm1_bias, norm2_weight, norm2_bias;
  std::string inner_weight, inner_bias, outer_weight, outer_bias;  // of the feed-forward part
};

struct TransformerNames {
  explicit TransformerNames(const TransformerConfig& config);

  std::string token_embedding, position_embedding, type_embedding;
  std::string embedding_norm_weight, embedding_norm_bias;  // bert
  std::vector<LayerNames> layers;
  std::string final_norm_weight, final_norm_bias;                        // gpt2
  std::string head_weight, head_bias, head_norm_weight, head_norm_bias;  // bert
  std::string output_weight, output_bias;  // output_weight is token_embedding when tied; empty: none

  // gpt2 keeps its matrices as (in, out), the others as (out, in).
  bool inputs_first = false;

  // In the order of the framework's state_dict, each tensor once.
  std::vector<WantedTensor> specs;
};

// What files of such a model hold: also tied weights twice, buffers that are no parameters, and parts that a
// language model does not use.
ModelTensors tensors_in_files(const TransformerConfig& config);

// As the frameworks initialise them: gpt2 and bert N(0, initial_deviation), gpt2's projections into the
// residual stream smaller by sqrt(2 L); plain: embedding and decoder U(-.1, .1), positions N(0, 1),
// Glorot's and He's uniform ranges inside; norms one and zero, biases zero.
NamedTensors random_parameters(const TransformerConfig& config, Seed seed);

}  // namespace undertext
