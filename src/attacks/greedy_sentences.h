// The paper's sentence reconstruction (gboard-next-word, section 3.2): ask the trained model.
#pragma once

#include <optional>
#include <span>

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

struct GreedyOptions {
  std::int64_t length = 4;  // words per sentence: the paper knows it
  std::int64_t count = 0;   // sentences to return: the paper knows it; 0: what the update's facts say, and
                            // if they do not, as many as the typed words fill, counted by the output bias
  std::optional<double> scale;  // s of section 4.3.2; empty: chosen without the truth
};

// One sentence per recovered word as its first: the likeliest next word among `words` under
// after + s (after - before), ranked by the relative change in log-perplexity.
SentenceRecovery recover_greedy_sentences(const Observation& observation, std::span<const Token> words,
                                          const GreedyOptions& options);

}  // namespace undertext
