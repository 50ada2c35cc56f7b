// One way through a character LSTM and back, for the sentences of some StepRows. A layer's inputs are one
// product for some steps at a time; each step is one product with the recurrent weights, panel by panel, and
// the gates of a panel follow while its sums are in the cache.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/char_lstm/packed_weights.h"
#include "models/char_lstm/state.h"
#include "models/char_lstm/step_rows.h"
#include "models/dropout.h"
#include "models/workspace.h"

namespace undertext {

struct LstmLayerWorkspace {
  Buffer gates, c, tanh_c, h, out, before;
};

struct LstmWorkspace {
  std::vector<LstmLayerWorkspace> layers;
  Buffer d_c, d_inputs;
};

class LstmPass {
 public:
  // dropout: on the output of each layer, or none at all; its choices hang on a sentence's place in the call,
  // the step and the unit, not on how the sentences are put together.
  LstmPass(const PackedWeights& weights, const StepRows& rows, std::vector<Dropout> dropout,
           LstmWorkspace& workspace);

  // inputs: what the first layer reads, (rows, E); null: the tokens' embeddings as they are. state: of all
  // sentences of the call, which are `sentences` many; null or empty: zeros. Returns what the decoder reads,
  // (rows, U).
  const float* forward(const float* inputs, const LstmState* state = nullptr, std::size_t sentences = 0);
  // Writes each sentence's last h and c. `units`: without padding.
  void last_state(LstmState& state, std::size_t sentences, std::int64_t units) const;

  // d_out (rows, U): d loss / d what forward() returned; used up. Afterwards gates() are gradients. With
  // `to_inputs`, returns d loss / d inputs, (rows, E).
  float* backward(float* d_out, bool to_inputs);

  const StepRows& rows() const { return rows_; }
  // What the weights' gradients are made of after the way back, by row: what a layer read (null: the tokens),
  // its h of the step before, and the gradient of its gates' sums.
  const float* inputs(std::size_t layer) const { return layers_[layer].inputs; }
  const float* h_before(std::size_t layer) const { return layers_[layer].h_before; }
  const Gates& gates(std::size_t layer) const { return layers_[layer].gates; }

 private:
  struct Layer {
    const float* inputs = nullptr;     // (rows, inputs)
    Gates gates;                       // (rows, 4U)
    float *h = nullptr, *c = nullptr;  // (places + rows, U): the states before the first step come first
    float *tanh_c = nullptr, *out = nullptr;  // (rows, U); out: h after dropout
    const float* h_before = nullptr;          // (rows, U)
  };
  using Steps = std::pair<std::int64_t, std::int64_t>;  // from the first to before the second

  void start(Layer& layer, std::size_t l, const LstmState* state, std::size_t sentences) const;
  void read_inputs(std::size_t l, const Steps& run) const;
  void forward_step(std::size_t l, std::int64_t step, bool from_nothing) const;
  void backward_step(std::size_t l, std::int64_t step, float* d_out, float* d_c) const;
  // d loss / d what the layer read in those steps, (rows, inputs), all rows of all steps one after the other.
  void to_inputs_of(std::size_t l, const Steps& run, float* d_inputs) const;
  const float* gather_h_before(std::size_t l);
  // to = from times the choices for the rows of a step; may be the same.
  void drop(std::size_t l, std::int64_t step, const float* from, float* to) const;
  bool drops(std::size_t l) const { return !dropout_.empty() && dropout_[l].acts(); }
  // Row of h and c that holds the state before that step.
  std::int64_t state_before(std::int64_t step) const {
    return step == 0 ? 0 : rows_.places() + rows_.begin[static_cast<std::size_t>(step) - 1];
  }

  const PackedWeights& weights_;
  const StepRows& rows_;
  std::vector<Dropout> dropout_;
  LstmWorkspace& work_;
  std::int64_t units_;
  std::vector<Steps> runs_;  // steps whose products with the input weights are done at once
  std::vector<Layer> layers_;
};

}  // namespace undertext
