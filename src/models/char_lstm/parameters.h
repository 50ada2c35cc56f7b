// The parameters of a character LSTM, under the names that torch.nn.Embedding, LSTM and Linear give them, so
// that a state dict of such a module loads as it is.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "models/char_lstm/config.h"
#include "tensors/name_matching.h"
#include "tensors/named_tensors.h"

namespace undertext {

struct LstmLayerNames {
  std::string weight_ih, weight_hh, bias_ih, bias_hh;  // (4U, E or U), (4U, U), (4U) each; gates i, f, g, o
};

struct CharLstmNames {
  explicit CharLstmNames(const CharLstmConfig& config);

  std::string embedding = "embedding.weight";                                  // (V, E)
  std::string output_weight = "decoder.weight", output_bias = "decoder.bias";  // (V, U), (V)
  std::vector<LstmLayerNames> layers;
  std::vector<WantedTensor> specs;  // all of them in the order of a state dict
};

// As torch initialises them: the embedding standard normal, all others uniform within 1 / sqrt(U).
NamedTensors random_parameters(const CharLstmConfig& config, Seed seed);

}  // namespace undertext
