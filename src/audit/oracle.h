// The magnitude cutoff of the published experiments (gboard-next-word, section 6.1), which was chosen with
// the truth in hand. It is a yardstick, not an attack: no adversary can run it, and reports name it oracle.
#pragma once

#include <span>

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

// All words by the change of their output bias, most negative first; of the prefixes of that list up to
// `longest` words the one with the best F1 against the words of the true sentences, the shortest where
// several are as good.
WordRecovery recover_words_by_oracle(const Observation& observation, std::span<const Sentence> truth,
                                     std::int64_t longest = 2000);

}  // namespace undertext
