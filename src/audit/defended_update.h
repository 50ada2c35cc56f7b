// Clients that train under defences, and what a server then sees of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "defences/defence_plan.h"
#include "federated/observation.h"
#include "models/load_model.h"

namespace undertext {

struct DefendedUpdate {
  Observation observation;
  std::vector<Sentence> truth;  // of all whose updates were summed, as they wrote them
  std::optional<Guarantee> promise;
  double seconds = 0;  // of one client's training
};

// How many clients' updates are summed before the server sees them.
std::size_t users_of(const DefencePlan& plan);

// The update of a client with the texts `own` or, under secure aggregation, the mean with those of others,
// whose texts are the next ones of `others`, as many for each: that is what the sum tells, but for its
// rounding to fixed point. UserError where there are too few others. state: what the server sent; seed: of
// what the defences draw.
DefendedUpdate defended_update(const ModelFolder& state, std::span<const Sentence> own,
                               std::span<const Sentence> others, const LocalTraining& training,
                               const DefencePlan& plan, Seed seed);

}  // namespace undertext
