// Which tokens a client's texts hold and how often, from the gradients of embedding and output layer
// (decepticons, section 3.1 and appendix B).
#pragma once

#include <cstdint>

#include "attacks/recovery.h"
#include "federated/observation.h"

namespace undertext {

struct BagOptions {
  std::int64_t tokens = 0;  // of all texts together, where the attacker knows; 0: unknown
  double cutoff = 1.5;      // of tied embeddings: standard deviations of the logarithm of the rows' norms
};

// Algorithm 2: tokens whose output bias has a negative gradient, and those whose embedding moved; each takes
// its share of what is negative until there are as many as the texts hold.
WordRecovery recover_bag_by_bias(const Observation& observation, const BagOptions& options);

// Algorithm 3: the rows of the embedding that stand out (tied) or moved at all, by the squares of their
// entries. No word where the update does not hold the embedding (frozen ones: film, section 5).
WordRecovery recover_bag_by_rows(const Observation& observation, const BagOptions& options);

// Whichever of the two the model allows; the first where it has an output bias.
WordRecovery recover_bag(const Observation& observation, const BagOptions& options);

// How many tokens all texts have together: what the options say, else the number of texts times the longest
// text's places; 0: not to be seen.
std::int64_t tokens_of(const Observation& observation, const BagOptions& options);

// The tokens of the longest text, as the places of a learned position embedding show it; 0: not to be seen.
std::int64_t longest_text(const Observation& observation);

}  // namespace undertext
