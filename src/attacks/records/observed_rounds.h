// Parts of what a federation's clients see.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "federated/federation_observation.h"

namespace undertext {

// The federation as it stood after `last` rounds, seen from `first` on: its round 0 is the model after round
// `first`. 0 <= first < last <= rounds.
FederationObservation rounds_of(const FederationObservation& observation, std::int64_t first,
                                std::int64_t last);

// A control: who took part, dealt out to the rounds anew. What an attack still reads after that, it did not
// read from who took part.
FederationObservation permuted(const FederationObservation& observation, Seed seed);

// Each known part of a client in a round becomes unknown with this probability.
FederationObservation with_unknown(const FederationObservation& observation, double share, Seed seed);

}  // namespace undertext
