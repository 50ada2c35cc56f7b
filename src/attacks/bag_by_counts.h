// A bag of words with counts, without being told how many tokens there are.
#pragma once

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

// Ours: what the model itself would have moved is taken off first, so that what is left of a token's row is
// its count, in units that are read off the tokens that occur once. The number of tokens need not be known.
WordRecovery recover_bag_by_counts(const Observation& observation);

}  // namespace undertext
