#include "audit/run/cell_client.h"

#include <nlohmann/json.hpp>

#include "audit/experiment/cell_defence.h"
#include "federated/aggregation.h"

namespace undertext {
namespace {

using nlohmann::json;

LocalTraining training_of(const json& config) {
  const json& federation = config.at("federation");
  LocalTraining training;
  training.epochs = federation.at("epochs");
  training.batch = federation.at("batch");
  training.learning_rate = federation.at("learning_rate");
  training.reduction = federation.at("reduction") == "sum" ? Reduction::sum : Reduction::mean;
  training.train_embedding = federation.at("train") == "all";
  training.zero_output_bias = federation.at("zero_output_bias");
  training.kind = federation.at("sends") == "weights" ? UpdateKind::weights
                  : federation.at("sends") == "delta" ? UpdateKind::delta
                                                      : UpdateKind::gradient;
  training.dropout = federation.at("dropout");
  training.seed = Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("dropout");
  return training;
}

// Clients draw noise of their own; strengths that are compared draw the same.
Seed noise_seed(const json& config) {
  const json& texts = config.at("texts");
  return Seed(config.at("run").at("seed").get<std::uint64_t>())
      .derive("noise")
      .derive(texts.at("hash").get<std::string>())
      .derive(texts.at("client").get<std::uint64_t>());
}

}  // namespace

Update client_update(const json& config, const LanguageModel& model, const std::string& hash,
                     const Tokenizer& tokenizer, std::span<const Sentence> texts) {
  const DefencePlan plan = plan_of(config.at("defence"));
  const auto count = config.at("federation").at("users").get<std::size_t>();
  plan.check(count == 1 ? DefenceSetting::update : DefenceSetting::users, model, &tokenizer);
  LocalTraining training = training_of(config);
  plan.apply(training);
  const std::vector<Sentence> own = plan.texts({texts.begin(), texts.end()}, tokenizer);
  if (count == 1) return train_locally(model, own, training, hash, plan.client(noise_seed(config)));
  std::vector<User> users;
  const std::size_t each = own.size() / count;
  for (std::size_t u = 0; u < count; ++u) {
    const std::span<const Sentence> part = std::span(own).subspan(u * each, each);
    users.push_back({{part.begin(), part.end()}, plan.client(user_seed(noise_seed(config), u, count))});
  }
  return average_gradient(model, users, training, hash);
}

}  // namespace undertext
