// Sequences from which a server learns how its measurements of clients' texts will spread.
#pragma once

#include "attacks/decepticons/corrupt.h"

namespace undertext {

// options.public_texts end to end, cut into sequences of options.length, or without them random tokens, which
// do nearly as well (decepticons, appendix D). At least one and about 64,000 tokens at most. UserError where
// the texts fill no sequence or the model reads none so long.
std::vector<Sentence> sample_sequences(const Transformer& model, const CorruptOptions& options);

}  // namespace undertext
