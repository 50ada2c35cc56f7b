// Exactly what the adversary of a threat model sees. Attacks take this and nothing else.
#pragma once

#include <memory>

#include "federated/update.h"
#include "models/language_model.h"

namespace undertext {

// The honest-but-curious server of gboard-next-word, section 2.2: the global model it sent out
// and the update that one client sent back.
struct Observation {
  std::shared_ptr<const LanguageModel> before;  // with zero output bias when the protocol says so
  std::shared_ptr<const LanguageModel>
      after;  // before, with the update's weights (delta: added; gradient: one step applied)
  Update update;
};

// Joins a model and an update; UserError when the update is of another model (hash, names, shapes).
Observation observe(std::shared_ptr<const LanguageModel> base, const std::string& base_hash, Update update);

// (before - after) / learning rate of one parameter, in double; for a gradient update the gradient itself.
// Zero when the parameter was not in the update.
at::Tensor summed_gradient(const Observation& observation, const std::string& parameter);

// Steps that the client took, as the protocol says; 0 where it does not say enough.
std::int64_t local_steps(const Protocol& protocol);
// Whether one occurrence of a word counts 1 in the gradient's rows: a sum that nothing has scaled down.
bool counts_are_whole(const Protocol& protocol);
// The standard deviation of the noise of known defences in each number of summed_gradient(); 0: none known.
double known_noise(const Observation& observation);

}  // namespace undertext
