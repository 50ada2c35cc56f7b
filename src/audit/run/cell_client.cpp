#include "audit/run/cell_client.h"

#include <nlohmann/json.hpp>

#include "defences/clipping.h"
#include "defences/noise.h"
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

std::vector<std::shared_ptr<const ClientDefence>> defences_of(const json& defence, Seed seed) {
  const double sigma = defence.value("sigma", 0.0), clip = defence.value("clip", 0.0);
  const NoiseKind noise = defence.value("noise", "") == "laplace" ? NoiseKind::laplace : NoiseKind::gaussian;
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  if (clip > 0 || defence.at("kind") == "clipping") defences.push_back(std::make_shared<Clipping>(clip));
  if (sigma == 0) return defences;
  if (defence.at("kind") == "noise-per-step")
    defences.push_back(std::make_shared<NoisePerStep>(sigma, seed, noise));
  if (defence.at("kind") == "noise-on-result")
    defences.push_back(std::make_shared<NoiseOnResult>(sigma, seed, noise));
  return defences;
}

}  // namespace

Update client_update(const json& config, const LanguageModel& model, const std::string& hash,
                     std::span<const Sentence> texts) {
  const LocalTraining training = training_of(config);
  const json& defence = config.at("defence");
  const auto count = config.at("federation").at("users").get<std::size_t>();
  if (count == 1)
    return train_locally(model, texts, training, hash, defences_of(defence, noise_seed(config)));
  std::vector<User> users;
  const std::size_t each = texts.size() / count;
  for (std::size_t u = 0; u < count; ++u) {
    const std::span<const Sentence> own = texts.subspan(u * each, each);
    users.push_back(
        {{own.begin(), own.end()}, defences_of(defence, user_seed(noise_seed(config), u, count))});
  }
  return average_gradient(model, users, training, hash);
}

}  // namespace undertext
