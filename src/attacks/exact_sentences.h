// The whole text of a client, sentence by sentence, from its update.
#pragma once

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

struct ExactOptions {
  std::int64_t length = 0;     // words per sentence when known; 0: any
  std::int64_t count = 0;      // number of sentences when known; 0: unknown
  double most_words = 0;       // when given: nothing is tried beyond so many typed words
  bool only_if_quiet = false;  // give up at once, with no sentences, when the update is noisy
};

// Few epochs: peeling.h. Many: overfit_sentences.h. Certified by certificate.h.
SentenceRecovery recover_exact_sentences(const Observation& observation, const ExactOptions& options);

}  // namespace undertext
