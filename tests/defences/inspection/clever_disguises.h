// What a server can do to a corrupted state so that it looks less like one, and still reads what clients
// typed.
#pragma once

#include "base/random.h"
#include "models/transformer/transformer.h"

namespace undertext {

struct CleverDisguise {
  const char* name;
  void (*apply)(Transformer& model, Seed seed);
};

// Neurons in random order; each with its own sign-preserving factor, taken back by what it adds; thresholds
// at random places between their neighbours; outputs along a random direction instead of one entry; noise in
// entries that no embedding uses; half of the neurons random; eight probes instead of one; and all of the
// first four at once.
const std::vector<CleverDisguise>& clever_disguises();

}  // namespace undertext
