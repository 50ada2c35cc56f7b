#include "audit/result_row.h"

#include <cmath>

#include "audit/trials.h"

namespace undertext {
namespace {

using nlohmann::json;

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

}  // namespace

json row_json(const RowFacts& facts) {
  const LocalTraining& training = facts.training;
  return {{"id", facts.id},
          {"attack", facts.attack},
          {"method", facts.method},
          {"oracle", facts.oracle},
          {"threat_model", facts.threat_model},
          {"messages", facts.messages},
          {"protocol",
           {{"name", facts.protocol},
            {"epochs", training.epochs},
            {"batch", training.batch},
            {"learning_rate", training.learning_rate},
            {"reduction", training.reduction == Reduction::sum ? "sum" : "mean"},
            {"trained", training.train_embedding ? "all" : "all-but-embedding"}}},
          {"defence", defence_json(facts.plan)},
          {"epsilon", facts.promise ? number_or_null(facts.promise->claim.epsilon) : json()},
          {"delta", facts.promise ? number_or_null(facts.promise->claim.delta) : json()},
          {"told", facts.told ? json(*facts.told) : json()},
          {"chance", number_or_null(facts.chance)},
          {"training_seconds", number_or_null(facts.training_seconds)},
          {"certified", nullptr},
          {"utility",
           {{"perplexity_before", number_or_null(facts.perplexity_before)},
            {"perplexity_after", number_or_null(facts.perplexity_after)}}}};
}

json curious_server_json() {
  return {{"id", kCuriousServer},
          {"name", "Curious server"},
          {"sees", "the global model and one client's update"},
          {"does_not_see", "the client's messages, their order or their lengths"},
          {"does", "follows the protocol, whose settings it knows, and reads"}};
}

}  // namespace undertext
