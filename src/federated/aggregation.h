// What a server sees of several users whose updates are averaged before they reach it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "federated/local_training.h"

namespace undertext {

struct User {
  std::vector<Sentence> texts;
  std::vector<std::shared_ptr<const ClientDefence>> defences = {};  // on this user's device, before averaging
};

// The seed of one of several users, for its noise and dropout; `seed` itself where there is one.
Seed user_seed(Seed seed, std::size_t user, std::size_t users);

// The mean of the users' gradients, as secure aggregation or a server would add them up (decepticons, section
// 2), each over the user's own texts. Its protocol counts the sentences of all of them. training.seed is that
// of all users; UserError unless one step's gradient is sent.
Update average_gradient(const LanguageModel& base, std::span<const User> users, const LocalTraining& training,
                        const std::string& base_hash);

}  // namespace undertext
