// What a defence costs: how good the shared model becomes when every client of a small federation runs it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "defences/defence_plan.h"
#include "federated/local_training.h"
#include "models/load_model.h"

namespace undertext {

struct DefendedTraining {
  std::int64_t rounds = 10, clients = 4;  // all clients in every round
  LocalTraining local = {};
  std::uint64_t seed = 1;
  // Noise on the result does not grow with the learning rate as everything else in an update does: it is made
  // larger by this factor, so that it hides as much as where it is attacked.
  double noise_factor = 1;
};

// The perplexity on `held_out` after federated training of `start` on `texts`, shared out among the clients.
// Secure aggregation changes no mean and costs nothing here. Infinite where the defence made the training
// diverge.
double perplexity_under(const DefencePlan& plan, const ModelFolder& start, std::span<const Sentence> texts,
                        std::span<const Sentence> held_out, const DefendedTraining& training);

// Of several, by plan.text().
std::map<std::string, double> perplexities_under(std::span<const DefencePlan> plans, const ModelFolder& start,
                                                 std::span<const Sentence> texts,
                                                 std::span<const Sentence> held_out,
                                                 const DefendedTraining& training);

}  // namespace undertext
