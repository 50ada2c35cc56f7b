#include "audit/run/cell_client.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "defences/clipping.h"
#include "defences/dpsgd.h"
#include "defences/noise.h"
#include "defences/perturbed_embedding.h"
#include "defences/pruning.h"
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

bool is_laplace(const json& defence) {
  return defence.value("noise", "") == "laplace";
}

}  // namespace

std::vector<std::shared_ptr<const ClientDefence>> cell_defences(const json& defence, Seed seed) {
  const double sigma = defence.value("sigma", 0.0), clip = defence.value("clip", 0.0);
  const NoiseKind noise = is_laplace(defence) ? NoiseKind::laplace : NoiseKind::gaussian;
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  if (defence.at("kind") == "dpsgd") return {std::make_shared<DpSgd>(clip, sigma, seed)};
  if (defence.at("kind") == "pruning")
    return {std::make_shared<Pruning>(defence.at("share"),
                                      defence.at("scope") == "all" ? PruningScope::all : PruningScope::each)};
  if (defence.at("kind") == "noised-embedding") return {std::make_shared<NoisedEmbedding>(sigma)};
  if (defence.at("kind") == "dropout-embedding")
    return {std::make_shared<DropoutEmbedding>(defence.at("rate"))};
  if (defence.at("kind") == "adversarial-embedding")
    return {std::make_shared<AdversarialEmbedding>(defence.at("magnitude"))};
  if (defence.at("kind") == "lstm-dropout") return {std::make_shared<LayerDropout>(defence.at("rate"))};
  if (clip > 0 || defence.at("kind") == "clipping") defences.push_back(std::make_shared<Clipping>(clip));
  if (sigma == 0) return defences;
  if (defence.at("kind") == "noise-per-step")
    defences.push_back(std::make_shared<NoisePerStep>(sigma, seed, noise));
  if (defence.at("kind") == "noise-on-result")
    defences.push_back(std::make_shared<NoiseOnResult>(sigma, seed, noise));
  return defences;
}

double noise_in_gradient(const json& config, std::size_t texts) {
  const json& defence = config.at("defence");
  const double sigma = defence.value("sigma", 0.0);
  if (defence.at("kind") == "noised-embedding") return 0;  // it is in the loss, not added to its gradient
  if (defence.at("kind") == "dpsgd") {
    const bool mean = config.at("federation").at("reduction") == "mean";
    return sigma * defence.at("clip").get<double>() / (mean ? static_cast<double>(texts) : 1);
  }
  return is_laplace(defence) ? std::numbers::sqrt2 * sigma : sigma;
}

Update client_update(const json& config, const LanguageModel& model, const std::string& hash,
                     std::span<const Sentence> texts) {
  const LocalTraining training = training_of(config);
  const json& defence = config.at("defence");
  const auto count = config.at("federation").at("users").get<std::size_t>();
  if (count == 1)
    return train_locally(model, texts, training, hash, cell_defences(defence, noise_seed(config)));
  std::vector<User> users;
  const std::size_t each = texts.size() / count;
  for (std::size_t u = 0; u < count; ++u) {
    const std::span<const Sentence> own = texts.subspan(u * each, each);
    users.push_back(
        {{own.begin(), own.end()}, cell_defences(defence, user_seed(noise_seed(config), u, count))});
  }
  return average_gradient(model, users, training, hash);
}

}  // namespace undertext
