#include "audit/run/cell_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/experiment/cell_defence.h"
#include "audit/experiment/cell_texts.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/sha256.h"
#include "federated/local_training.h"
#include "federated/step_gradient.h"
#include "models/training.h"

namespace undertext {
namespace {

using nlohmann::json;

std::int64_t all_steps(const json& training) {
  return training.at("epochs").get<std::int64_t>() *
         steps_per_epoch(training.at("texts"), training.at("batch"));
}

std::int64_t steps_until_attack(const json& training) {
  return std::llround(training.at("at").get<double>() * static_cast<double>(all_steps(training)));
}

bool defended(const json& config) {
  return config.at("training").at("defended").get<bool>() && config.at("defence").at("kind") != "none";
}

// Everything that the trained model depends on.
std::string key_of(const json& config) {
  json training = config.at("training");
  for (const char* key : {"attacked", "defended", "at"}) training.erase(key);
  training["steps"] = steps_until_attack(config.at("training"));
  json texts = config.at("texts");
  for (const char* key : {"files", "client", "held_out_hash", "held_out_from"}) texts.erase(key);
  // Where the messages to stop by lie depends on how many the utility takes.
  const json utility = validation_size(training) > 0 ? config.at("metrics").at("utility") : json(0);
  const json parts = {kVersion,
                      config.at("model").at("hash"),
                      texts,
                      training,
                      utility,
                      config.at("federation").at("train"),
                      config.at("federation").at("dropout"),
                      defended(config) ? config.at("defence") : json(),
                      config.at("run").at("seed")};
  return sha256_of(parts.dump());
}

ModelFolder made(const json& config, const ModelFolder& start, Sources& sources) {
  const json& given = config.at("training");
  const DefencePlan plan = defended(config) ? plan_of(config.at("defence")) : DefencePlan();
  plan.check(DefenceSetting::training, *start.model, start.tokenizer.get());
  TrainingTexts texts = training_texts_of(config, *start.tokenizer, sources);
  texts.trained = plan.texts(std::move(texts.trained), *start.tokenizer);
  const std::shared_ptr<LanguageModel> model = start.model->clone();
  model->check(texts.trained, "the texts of the training");
  const Seed seed = Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("training");
  Training training;
  training.epochs = given.at("epochs");
  training.batch = given.at("batch");
  training.learning_rate = given.at("learning_rate");
  training.patience = given.at("patience");
  training.train_embedding =
      config.at("federation").at("train") == "all" && plan.find("frozen-embedding") == nullptr;
  const std::int64_t steps = steps_until_attack(given);
  if (steps < all_steps(given)) training.stop_after = steps;
  training.title = "training before the attack";
  if (const auto defences = plan.client(seed.derive("defence")); !defences.empty()) {
    perturb(*model, defences);
    training.gradient = [defences, &model](std::span<const Sentence> batch, std::int64_t step,
                                           NamedTensors& gradient) {
      const double loss = step_gradient(*model, batch, Reduction::mean, defences, step, gradient);
      return loss / static_cast<double>(std::max<std::int64_t>(model->predicted(batch), 1));
    };
  }
  // Without messages to stop by, some of those trained on stand in: nobody reads their perplexity.
  const auto some = std::span(texts.trained).first(std::min<std::size_t>(texts.trained.size(), 8));
  train_model(*model, texts.trained, texts.validation.empty() ? some : std::span(texts.validation), training,
              seed);
  std::string hash = hash_of(model->parameters());
  return {model, start.tokenizer, std::move(hash)};
}

}  // namespace

std::shared_ptr<const ModelFolder> trained_model(const json& config, std::shared_ptr<const ModelFolder> start,
                                                 Sources& sources) {
  if (!trains_first(config) || steps_until_attack(config.at("training")) == 0) return start;
  return sources.trained(key_of(config), *start->tokenizer, [&] { return made(config, *start, sources); });
}

std::optional<double> epsilon_of_cell(const json& config) {
  if (!trains_first(config) || !defended(config)) return std::nullopt;
  const json& training = config.at("training");
  // The attacked step is one more.
  const auto promised = plan_of(config.at("defence"))
                            .guarantee({.texts = training.at("texts"),
                                        .batch = training.at("batch"),
                                        .steps = steps_until_attack(training) + 1});
  return promised ? std::optional(promised->claim.epsilon) : std::nullopt;
}

}  // namespace undertext
