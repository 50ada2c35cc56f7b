// The weights' gradients of one call, summed over the passes of its pieces. A piece adds to every sum once,
// in the order of the pieces, so that it does not matter how many of them were computed at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/char_lstm/packed_weights.h"
#include "models/char_lstm/pass.h"

namespace undertext {

// What one pass leaves for the sums, all by row.
struct PassGradient {
  LstmPass* pass;
  const float* out;       // (rows, U): what the decoder read
  const float* d_logits;  // (rows, V)
  // (rows, E): d loss / d what came out of the embedding, of a pass that did not read the tokens as they are;
  // null where nobody wants it.
  const float* d_embedding;
};

class GradientSums {
 public:
  // gradient: names which tensors are wanted.
  GradientSums(const CharLstmConfig& config, const CharLstmNames& names, const PackedWeights& weights,
               const NamedTensors& gradient);

  bool wants_embedding() const { return embedding_; }
  // The sums in parts that can be worked on at the same time.
  std::int64_t parts() const { return static_cast<std::int64_t>(parts_.size()); }
  void add(std::int64_t part, const PassGradient& pass) { parts_[static_cast<std::size_t>(part)](pass); }
  // Adds all, times scale, to the tensors. Once.
  void finish(double scale, NamedTensors& gradient);

 private:
  struct LayerSums {
    std::vector<float> input, recurrent;  // (4U, inputs), (4U, U)
    std::vector<double> bias;             // (4U)
  };

  void want_layer(std::size_t l, const NamedTensors& gradient);
  void add_gates(const std::vector<float>& sum, std::int64_t width, std::int64_t columns, double scale,
                 at::Tensor& to) const;
  void finish_tokens();

  const CharLstmConfig& config_;
  const CharLstmNames& names_;
  const PackedWeights& weights_;
  bool embedding_ = false, first_input_ = false;
  std::vector<LayerSums> layers_;
  // By token, of passes that read the tokens as they are: sums of the first layer's gates, (V, 4U); and of
  // what came out of the embedding, (V, E).
  std::vector<float> token_gates_, token_embedding_;
  std::vector<float> decoder_;  // (V, U)
  std::vector<double> decoder_bias_;
  std::vector<std::function<void(const PassGradient&)>> parts_;
};

}  // namespace undertext
