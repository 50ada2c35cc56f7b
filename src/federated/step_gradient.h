// The gradient of one step on a batch, as a client's defences leave it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "federated/defence.h"
#include "federated/update.h"
#include "models/char_lstm/state.h"
#include "models/language_model.h"

namespace undertext {

using Defences = std::span<const std::shared_ptr<const ClientDefence>>;

// Whether any of them has to see the gradient of each step.
bool act_on_steps(Defences defences);

// Sets what the defences do to the model's inside while it trains. UserError where the model cannot.
void perturb(LanguageModel& model, Defences defences);

// Overwrites the tensors in `gradient`, whose names are what is trained. Without a bound on sentences it is
// that of the loss summed, or averaged, over the batch's predicted words. With one (Abadi et al., 2016,
// algorithm 1) each sentence's loss is summed, or averaged, over its own words, its gradient scaled by
// min(1, bound / norm), and these are added up, or averaged over the sentences. Returns the sum of losses
// over all words. carried: what the model remembers of the step before, from which it reads on; UserError for
// a model that cannot, and with a bound on sentences, which are then not told apart. Null: from nothing.
// expected: sentences that a mean under a bound divides by, where the batch was drawn; 0: those there are.
double step_gradient(const LanguageModel& model, std::span<const Sentence> batch, Reduction reduction,
                     Defences defences, std::int64_t step, NamedTensors& gradient,
                     LstmState* carried = nullptr, double expected = 0);

}  // namespace undertext
