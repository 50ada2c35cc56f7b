// Noise that hides what is conspicuous of a corrupted state (decepticons, appendix G).
#pragma once

#include "base/random.h"
#include "models/transformer/transformer.h"

namespace undertext {

// deviation: in units of what each tensor typically holds. Equal rows become a matrix of full rank, zeros and
// identities become small and nearly so; measurements move by about `deviation` of their spread.
void disguise(Transformer& model, double deviation, Seed seed);

}  // namespace undertext
