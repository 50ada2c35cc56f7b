// Our readout of the paper's state: bins taken apart, sequences that begin alike told apart by what their
// rows say of the tokens after them, and the last place filled in.
#pragma once

#include "attacks/decepticons/readout.h"

namespace undertext {

// ids: the tokens that were seen. The model is of the plain kind.
DecepticonRecovery read_superposed(const Observation& observation, const Transformer& model,
                                   const DecepticonKey& key, std::vector<Token> ids, std::int64_t length);

}  // namespace undertext
