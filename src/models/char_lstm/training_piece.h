// Some sentences of a training step: there and back, under what training draws at random and under what
// perturbs the embedding (record-level, section VI).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "models/char_lstm/gradient_sums.h"
#include "models/char_lstm/packed_weights.h"
#include "models/char_lstm/pass.h"
#include "models/perturbation.h"

namespace undertext {

// What the pieces of one call have in common.
struct TrainingCall {
  const PackedWeights& weights;
  const CharLstmConfig& config;
  std::span<const Sentence> sentences;
  std::span<const double> sentence_weight;  // empty: one each
  std::optional<Seed> seed;                 // nothing: no dropout and no noise
  Perturbation perturbation;
  const LstmState* state = nullptr;  // to go on from
  bool to_embedding = false;         // whether the embedding's gradient is wanted
};

class TrainingPiece {
 public:
  // The chosen sentences, of which lengths must not rise. Writes each one's loss to its place in `loss`.
  void run(const TrainingCall& call, std::span<const std::size_t> chosen, std::span<double> loss);

  // What run() left: one pass, or two where the training is adversarial, whose weights are halved.
  std::span<const PassGradient> passes() const { return gradients_; }
  const StepRows& rows() const { return *rows_; }
  // The unperturbed pass, whose state is carried on.
  const LstmPass& first_pass() const { return passes_.front(); }

 private:
  struct Buffers {
    LstmWorkspace lstm;
    Buffer inputs, d_logits, d_out;
  };

  void fill_row_weights(const TrainingCall& call, double factor);
  float* noisy_inputs(const TrainingCall& call);
  float* adversarial_inputs(const TrainingCall& call, const float* inputs, const float* d_inputs);
  // One way there and back; adds to the losses. Returns d loss / d inputs where `to_inputs`.
  float* pass(const TrainingCall& call, const float* inputs, bool to_inputs, double factor,
              std::span<double> loss);
  void undo_dropout(const TrainingCall& call, float* d_inputs) const;

  std::optional<StepRows> rows_;
  std::vector<LstmPass> passes_;
  std::vector<PassGradient> gradients_;
  std::vector<float> row_weight_;
  std::vector<double> log_probability_;
  std::array<Buffers, 2> buffers_;
  Buffer scratch_;
};

}  // namespace undertext
