#include "federated/aggregation.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"

namespace undertext {

Seed user_seed(Seed seed, std::size_t user, std::size_t users) {
  return users == 1 ? seed : seed.derive("user").derive(user);
}

Update average_gradient(const LanguageModel& base, std::span<const User> users, const LocalTraining& training,
                        const std::string& base_hash) {
  if (users.empty()) fail("no users, expected at least one whose gradient is averaged");
  if (training.kind != UpdateKind::gradient)
    fail("the users send {}, expected gradients: only these are averaged here", name_of(training.kind));
  Update average;
  const double weight = 1 / static_cast<double>(users.size());
  std::int64_t count = 0;
  for (std::size_t u = 0; u < users.size(); ++u) {
    LocalTraining own = training;
    own.seed = user_seed(training.seed, u, users.size());
    Update update = train_locally(base, users[u].texts, own, base_hash, users[u].defences);
    count += update.protocol.count;
    if (users.size() == 1) return update;
    if (u == 0) {
      average = std::move(update);
      for (auto& [name, tensor] : average.tensors) tensor.mul_(weight);
    } else {
      for (auto& [name, tensor] : average.tensors) tensor.add_(update.tensors.at(name), weight);
    }
  }
  average.protocol.count = count;
  // Each user's noise is its own.
  average.protocol.defence.noise_per_step *= std::sqrt(weight);
  average.protocol.defence.noise_on_result *= std::sqrt(weight);
  return average;
}

}  // namespace undertext
