// Which tokens a masked model read.
#pragma once

#include <vector>

#include "attacks/decepticons/match_tokens.h"
#include "federated/observation.h"
#include "models/transformer/transformer.h"

namespace undertext {

struct MaskedBag {
  TokenBag read;              // tokens at places that were not hidden, and the mask
  std::vector<Token> hidden;  // what was to be predicted, each as often as it was, most certain first
};

// The embedding's rows of a tied masked model move for what was read, for what was to be predicted and for
// what was predicted in its stead. The last part is bounded: it is sum_i p_i h_i with |h_i| = sqrt(D), and
// the output bias knows sum_i p_i. What is longer was there. tokens: of all sequences together.
MaskedBag masked_bag(const Transformer& model, const Observation& observation, std::int64_t tokens);

}  // namespace undertext
