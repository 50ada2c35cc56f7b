// Which words a client typed, from its update (gboard-next-word, section 3.1).
#pragma once

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

// Algorithm 2: words whose output bias went the way only typed words go (before - after < 0, strictly), most
// negative first.
WordRecovery recover_words_by_sign(const Observation& observation);

// Algorithm 2 with the magnitude cutoff of section 6.1, chosen without the truth: centre and spread of the
// untyped words from the median and lower quartile, one-sided p-values, Benjamini-Hochberg at q = .05.
WordRecovery recover_words_by_cutoff(const Observation& observation);

// The strongest rule we have that needs no truth: the words of the sentences that explain the update when these
// are certain; else counts after the model's own predictions are taken away, from weight rows and bias, and a
// trained embedding's rows where the update holds them.
WordRecovery recover_words(const Observation& observation);

}  // namespace undertext
