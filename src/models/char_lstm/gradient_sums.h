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
  const LstmPass* pass;
  const float* out;       // (rows, U): what the decoder read
  const float* d_logits;  // (rows, V)
  // (rows, E): d loss / d what came out of the embedding, of a pass that did not read the tokens as they are;
  // null where nobody wants it.
  const float* d_embedding;
};

struct LayerSums {
  Buffer input, recurrent;   // (4U, inputs), (4U, U), as add_outer() leaves them
  std::vector<double> bias;  // (4U)
};

struct GradientWorkspace {
  std::vector<LayerSums> layers;
  // By token, of passes that read the tokens as they are: sums of the first layer's gates, (V, 4U) by panels;
  // and of what came out of the embedding, (V, E).
  Buffer token_gates, token_embedding;
  Buffer decoder;  // (V, U)
  std::vector<double> decoder_bias;
};

class GradientSums {
 public:
  // gradient: names which tensors are wanted.
  GradientSums(const CharLstmConfig& config, const CharLstmNames& names, const PackedWeights& weights,
               const NamedTensors& gradient, GradientWorkspace& workspace);

  bool wants_embedding() const { return wants(names_.embedding); }
  // The sums in parts that can be worked on at the same time.
  std::int64_t parts() const { return static_cast<std::int64_t>(parts_.size()); }
  void add(std::int64_t part, const PassGradient& pass) const {
    parts_[static_cast<std::size_t>(part)](pass);
  }
  // Adds all, times scale, to the tensors. Once.
  void finish(double scale);

 private:
  bool wants(const std::string& name) const { return gradient_.contains(name); }
  float* data(const std::string& name) const { return gradient_.at(name).data_ptr<float>(); }
  void want_layer(std::size_t l);
  void want_tokens();
  void want_decoder();
  void finish_tokens();

  const CharLstmConfig& config_;
  const CharLstmNames& names_;
  const PackedWeights& weights_;
  const NamedTensors& gradient_;
  GradientWorkspace& work_;
  std::vector<std::function<void(const PassGradient&)>> parts_;
};

}  // namespace undertext
