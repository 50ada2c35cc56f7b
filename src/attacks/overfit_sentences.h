// Sentences out of an update of many epochs, where the gradient is no longer that of one model: candidates
// from the change in perplexity, then the combination of sentences that explains the output layer's change.
#pragma once

#include "attacks/exact_sentences.h"

namespace undertext {

SentenceRecovery recover_overfit_sentences(const Observation& observation, const ExactOptions& options);

}  // namespace undertext
