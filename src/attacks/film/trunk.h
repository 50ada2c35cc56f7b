// A sentence that was read, and others that share its beginning: what differs alone is read for them, and
// that only as far as a candidate may still be of use.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/matrix.h"
#include "models/transformer/reader.h"

namespace undertext {

class Trunk {
 public:
  explicit Trunk(std::shared_ptr<const Transformer> model) : model_(model), reader_(model) {}

  void read(const Sentence& sentence);
  const Sentence& sentence() const { return sentence_; }
  // (T + 1, T + 1): entry (i, j) is log p(token j | the first i tokens), 0 in column T, where nothing
  // follows. Row 0 is 0: nothing is known to begin a sentence.
  Matrix<double> links() const;
  // -log p of all tokens but the first of each candidate; infinity where it exceeds its limit.
  std::vector<double> losses(std::span<const Sentence> candidates, std::span<const double> limits);

 private:
  struct Walk;

  void extend(std::span<const StateId> from, std::span<const Token> tokens);
  double log_probability(StateId after, Token token) const;

  std::shared_ptr<const Transformer> model_;
  TransformerReader reader_;
  Sentence sentence_;              // states 0 .. T - 1 are its prefixes
  std::vector<double> log_total_;  // of each state: log sum exp of its logits
  OutputWorkspace workspace_;
};

}  // namespace undertext
