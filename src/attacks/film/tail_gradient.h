// What a client's update says of the last block's matrices.
#pragma once

#include "attacks/film/filter.h"
#include "federated/observation.h"
#include "models/transformer/transformer.h"

namespace undertext {

// UserError where the update does not hold the feed-forward output's.
TailGradient tail_gradient(const Observation& observation, const Transformer& model);

}  // namespace undertext
