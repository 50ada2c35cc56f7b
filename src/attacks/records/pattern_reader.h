// Reads prefixes of a pattern's texts under one model and says how likely each of its tokens is to follow.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attacks/records/token_pattern.h"
#include "attacks/records/token_scores.h"
#include "models/output_layer.h"
#include "models/some_words.h"

namespace undertext {

class PatternReader : public TokenScores {
 public:
  // context: what stands before a record, as far as the adversary knows; the model's start token comes before
  // it. Where there is neither, the first token is not predicted, and its log-probability counts as zero.
  // UserError where the model does not read from left to right.
  PatternReader(std::shared_ptr<const LanguageModel> model, const TokenPattern& pattern,
                const Sentence& context);

  StateId begin() const override { return begin_; }
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens) override;
  Matrix<float> scores(StateId first, std::span<const std::int32_t> places) override;
  void keep(std::span<const StateId> states) override;
  std::int64_t states() const override { return states_; }

  // Log-probabilities, among all tokens of the model, of the pattern's after each of n states from `first`:
  // (n, alphabet).
  Matrix<float> log_probabilities(StateId first, std::int64_t n);

 private:
  std::shared_ptr<const LanguageModel> model_;
  std::unique_ptr<PrefixReader> reader_;
  SomeWords words_;
  OutputWeights output_;
  OutputWorkspace workspace_;
  StateId begin_ = kNothing;
  std::int64_t states_ = 0;
};

}  // namespace undertext
