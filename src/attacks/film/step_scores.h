// What the gradient says of every token that could follow a prefix.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "attacks/film/filter.h"
#include "attacks/film/own_text.h"
#include "attacks/film/tail.h"

namespace undertext {

// A step as the filter sees it. In units in which noise has variance `energy`, a step that occurs with weight
// w responds by w * energy.
struct ScoredStep {
  std::int32_t context = 0;
  Token token = 0;
  double response = 0, energy = 0;
  double log_probability = 0;  // by the model

  // Log of how much likelier the response is when the step occurs once (weight w) than when it does not, with
  // an error of a share of the response beside the noise. Beyond one occurrence counts as one.
  double evidence(double w) const {
    constexpr double kError = 0.15;
    const double one = w * w * energy;
    return (w * std::min(response, w * energy) - one / 2) / (1 + kError * kError * one);
  }
};

// Evidence and the model's log-probability together, below which a step is hardly followed.
inline constexpr double kHopeless = -12;

class StepScores {
 public:
  // own: text of the model's own making, for how a token's energy goes with its word vector. words: the
  // tokens that may follow, each once. read: for each token of the vocabulary whether the batch has it
  // elsewhere than at the ends of texts, which holds for none beside `words`; empty: not known.
  StepScores(const Tail& tail, const Filter& filter, const OwnText& own, std::span<const Token> words,
             std::vector<char> read = {});

  // May more follow this token?
  bool is_read(Token k) const { return read_.empty() || read_[static_cast<std::size_t>(k)] != 0; }

  // About the `most` likeliest tokens of each context, by evidence and the model's own prediction, context by
  // context. w: weight of one occurrence; 0: unknown, by response over deviation. prior: how much the model's
  // prediction counts beside the evidence. The energies of hopeless steps are estimates.
  std::vector<ScoredStep> best(const TailContexts& contexts, double w, std::int64_t most,
                               double prior = 1) const;

 private:
  // Response of (c, k) is base_c - direction_c . W_k.
  Matrix<float> directions(const TailContexts& contexts, const Sides& left) const;

  const Tail& tail_;
  const Filter& filter_;
  std::vector<char> read_;
  Matrix<float> white(Matrix<float> x) const;

  std::vector<Token> words_;        // n of them
  Matrix<float> rows_;              // (n, D), of the output layer
  Matrix<float> white_words_;       // (n, D), the same as the first dyad's right side sees them
  std::vector<float> word_energy_;  // (n), the squared norms of these
  double energy_ratio_ = 1;         // of all dyads to what the above gives, times the left side's energy
};

}  // namespace undertext
