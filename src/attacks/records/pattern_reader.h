// Reads prefixes of a pattern's texts under one model and says how likely each of its tokens is to follow.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attacks/records/token_pattern.h"
#include "base/matrix.h"
#include "models/output_layer.h"
#include "models/prefix_reader.h"
#include "models/some_words.h"

namespace undertext {

class PatternReader {
 public:
  // context: what stands before a record, as far as the adversary knows; the model's start token comes before
  // it. UserError where the model does not read from left to right.
  PatternReader(std::shared_ptr<const LanguageModel> model, const TokenPattern& pattern,
                const Sentence& context);

  // The state before a record's first token; kNothing where the model has read nothing then, and the first
  // token is not predicted: its log-probability counts as zero.
  StateId begin() const { return begin_; }
  static constexpr StateId kNothing = -1;

  // Appends tokens[i] to states[i]. New states are numbered consecutively from the returned id.
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens);
  // Log-probabilities, among all tokens of the model, of the pattern's after each of n states from `first`:
  // (n, alphabet).
  Matrix<float> log_probabilities(StateId first, std::int64_t n);
  // Forgets all states but these (ascending), which are numbered anew from 0 in their order. begin() is one
  // of them only when it is named.
  void keep(std::span<const StateId> states);
  std::int64_t states() const { return states_; }

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
