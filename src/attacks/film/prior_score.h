// FILM, equation 4: how little the model is surprised by a sentence, and how little it would learn from it.
#pragma once

#include <optional>

#include "attacks/film/trunk.h"

namespace undertext {

struct PriorOptions {
  double beta = 1;         // weight of the gradient norm beside the perplexity
  bool fast_norm = false;  // of one layer norm's weight in the middle of the network, not of all parameters
};

// Less is better.
class PriorScore {
 public:
  struct Best {
    std::size_t at;
    double score;
  };

  PriorScore(std::shared_ptr<const Transformer> model, const PriorOptions& options);

  // Sentences that share beginnings with this one are scored faster from now on.
  void follow(const Sentence& sentence) { trunk_.read(sentence); }
  const Trunk& trunk() const { return trunk_; }
  // Sentences of at least two tokens.
  std::vector<double> operator()(std::span<const Sentence> sentences);
  // The best of those below the bound. The same as from the scores of all, but no norm is less than 0: a
  // sentence whose perplexity, or that of its beginning, is too large needs none.
  std::optional<Best> best_below(std::span<const Sentence> sentences, double bound);

 private:
  std::vector<double> perplexities(std::span<const Sentence> sentences, double bound);
  std::vector<double> norms(std::span<const Sentence> sentences) const;

  std::shared_ptr<const Transformer> model_;
  double beta_;
  std::vector<std::string> names_;  // of the norm's parameters; empty: all
  Trunk trunk_;
};

}  // namespace undertext
