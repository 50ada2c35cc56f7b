// One number per word from its whole row of the output layer's gradient: how often it was typed.
#pragma once

#include <span>
#include <vector>

#include "federated/observation.h"
#include "text/tokenizer.h"

namespace undertext {

struct RowStatistics {
  std::vector<double> count;      // estimate per word, one occurrence of a typical word = 1
  std::vector<double> expected;   // what the model's own predictions put into it
  std::vector<double> deviation;  // standard deviation of `count` for a word that was not typed
  double noise = 0;               // per entry of the gradient
};

// seed_words: words that were typed for sure, to build likely contexts from.
RowStatistics row_statistics(const Observation& observation, std::span<const Token> seed_words);

}  // namespace undertext
