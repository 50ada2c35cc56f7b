// What no layer shows, from what the others say: the token that a sequence's code lacks, and the one that a
// loss was about.
#pragma once

#include "attacks/decepticons/placing.h"
#include "attacks/decepticons/readout.h"

namespace undertext {

// The sequences that were placed, and their holes filled in: by the code, where it is that of the whole
// sequence and one or two tokens are missing; by the weight of the label that the place before shows; else by
// nothing but a guess. Of masked models the words that were hidden.
// label_counts: how often each of the state's ids was predicted (masked models).
DecepticonRecovery completed(const Transformer& model, const ExactState& state, const Placing& placing,
                             const std::vector<std::int64_t>& label_counts);

}  // namespace undertext
