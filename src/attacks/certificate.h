// A proof that needs no truth: play the client with the recovered text and compare what it would have sent.
#pragma once

#include <span>

#include "federated/observation.h"

namespace undertext {

// As a client clips: all of it scaled down to the norm where it is longer. Returns the factor.
double clip_gradient(NamedTensors& gradient, double norm);

// True when the update is one step over one batch and these sentences, trained on as its protocol says, give
// every row of the output weight as observed, to what float32 rounding explains. One sentence missing, wrong
// or too many leaves some row off by about one hidden vector.
bool explains_update(const Observation& observation, std::span<const Sentence> sentences);

}  // namespace undertext
