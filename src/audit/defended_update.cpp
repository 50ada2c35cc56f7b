#include "audit/defended_update.h"

#include "audit/trials.h"
#include "base/error.h"
#include "federated/aggregation.h"
#include "federated/fed_avg.h"

namespace undertext {
namespace {

std::vector<Sentence> listed(std::span<const Sentence> texts) {
  return {texts.begin(), texts.end()};
}

// The mean of the weights that clients send. After one step on a summed loss it is what one client with all
// their texts would send at a learning rate of 1/K, and the server knows K.
Update average_weights(const ModelFolder& state, std::span<const User> users, const LocalTraining& training) {
  FedAvg mean;
  Update average;
  std::int64_t count = 0;
  for (std::size_t u = 0; u < users.size(); ++u) {
    LocalTraining own = training;
    own.seed = user_seed(training.seed, u, users.size());
    average = train_locally(*state.model, users[u].texts, own, state.hash, users[u].defences);
    mean.add(average.tensors, 1);
    count += average.protocol.count;
  }
  average.tensors = mean.mean();
  average.protocol.count = count;
  if (training.reduction == Reduction::sum)
    average.protocol.learning_rate /= static_cast<double>(users.size());
  return average;
}

}  // namespace

std::size_t users_of(const DefencePlan& plan) {
  const DefenceSpec* sum = plan.find("secure-aggregation");
  return sum == nullptr ? 1 : static_cast<std::size_t>(sum->number("users"));
}

DefendedUpdate defended_update(const ModelFolder& state, std::span<const Sentence> own,
                               std::span<const Sentence> others, const LocalTraining& given,
                               const DefencePlan& plan, Seed seed) {
  LocalTraining training = given;
  plan.apply(training);
  const std::size_t users = users_of(plan);
  if (others.size() < (users - 1) * own.size())
    fail("{} messages are left for {} more clients of {}, expected more texts", others.size(), users - 1,
         own.size());
  DefendedUpdate made;
  made.truth = listed(own);
  std::vector<User> clients = {
      {plan.texts(listed(own), *state.tokenizer), plan.client(user_seed(seed, 0, users))}};
  for (std::size_t u = 1; u < users; ++u) {
    const std::vector<Sentence> texts = listed(others.subspan((u - 1) * own.size(), own.size()));
    made.truth.insert(made.truth.end(), texts.begin(), texts.end());
    clients.push_back({plan.texts(texts, *state.tokenizer), plan.client(user_seed(seed, u, users))});
  }
  Update update;
  made.seconds = seconds_of([&] {
    update = users == 1
                 ? train_locally(*state.model, clients[0].texts, training, state.hash, clients[0].defences)
             : training.kind == UpdateKind::gradient
                 ? average_gradient(*state.model, clients, training, state.hash)
                 : average_weights(state, clients, training);
  });
  made.seconds /= static_cast<double>(users);
  const auto texts = static_cast<std::int64_t>(own.size());
  const std::int64_t batch = training.batch == 0 ? texts : std::min(training.batch, texts);
  made.promise = plan.guarantee(
      {.texts = texts, .batch = batch, .steps = training.epochs * steps_per_epoch(texts, batch)});
  made.observation = observe(state.model, state.hash, std::move(update));
  return made;
}

}  // namespace undertext
