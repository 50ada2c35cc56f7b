// What the feed-forward part of a transformer's first layer is given.
#pragma once

#include <span>

#include "base/matrix.h"
#include "models/transformer/transformer.h"

namespace undertext {

// After attention and its norm, without dropout: the sequences' places end to end, (R, D). A corrupted state
// gives the same, but for the last entry, to the layers above.
Matrix<float> first_inputs(const Transformer& model, std::span<const Sentence> sequences);

}  // namespace undertext
