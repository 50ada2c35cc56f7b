// Candidates from two models: sentences that the trained model finds far likelier than the model it came
// from.
#pragma once

#include <span>
#include <vector>

#include "federated/observation.h"

namespace undertext {

struct PerplexityOptions {
  double scale = 0;           // s: the trained model is after + s (after - before)
  std::int64_t beams = 3000;  // prefixes kept at each depth
  std::int64_t length = 0;    // words per sentence when known; 0: any
  double prior = 0.5;         // beams are ranked by log p_after - prior * log p_before
};

struct PerplexityCandidate {
  Sentence words;
  double change = 0;  // relative change in log-perplexity (gboard-next-word, section 3.2)
};

// Beam search from <S> over the words of the bag; best change first. Without a length every prefix kept is
// a candidate.
std::vector<PerplexityCandidate> search_by_perplexity(const Observation& observation,
                                                      std::span<const Token> bag,
                                                      const PerplexityOptions& options);

}  // namespace undertext
