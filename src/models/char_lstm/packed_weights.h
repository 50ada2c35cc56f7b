// A character LSTM's weights as the passes read them: packed for products, padded to whole vectors, the gates
// in blocks. A panel of gates holds those of kLanes units, i, f, g and o: (4, lanes) in each row, so that one
// panel of a product gives all that its units need.
#pragma once

#include <cstdint>
#include <vector>

#include "models/char_lstm/config.h"
#include "models/char_lstm/panels.h"
#include "models/char_lstm/parameters.h"
#include "tensors/named_tensors.h"

namespace undertext {

struct PackedLayer {
  std::int64_t inputs = 0;            // E or U, padded
  Panels input, recurrent;            // (inputs, 4U), (U, 4U): a step forward
  Panels input_back, recurrent_back;  // (4U, inputs), (4U, U): a step back
  Buffer bias_buffer;
  float* bias = nullptr;  // (4U), the sum of both
};

class PackedWeights {
 public:
  // Also for the way back, or forward only. Reads the parameters once: changes of theirs are not seen.
  void pack(const CharLstmConfig& config, const CharLstmNames& names, const NamedTensors& parameters,
            bool way_back);

  std::int64_t characters = 0;                            // V without padding
  std::int64_t vocabulary = 0, embedding = 0, units = 0;  // V, E, U, padded
  std::vector<PackedLayer> layers;
  Panels decoder, decoder_back;  // (U, V), (V, U)

  const float* token_embedding(std::int64_t token) const { return embedding_ + token * embedding; }
  // What a token adds to the first layer's gates, bias included: (4U). There are few characters, so this
  // product is done once for each of them and not for each place where it stands.
  const float* token_gates(std::int64_t token) const { return token_gates_ + token * 4 * units; }
  const float* decoder_bias() const { return decoder_bias_; }  // (V)

 private:
  void pack_layer(const CharLstmConfig& config, const LstmLayerNames& names, const NamedTensors& parameters,
                  std::int64_t l, bool way_back);

  Buffer embedding_buffer_, token_gates_buffer_, decoder_bias_buffer_;
  float *embedding_ = nullptr, *token_gates_ = nullptr, *decoder_bias_ = nullptr;
};

}  // namespace undertext
