// A row of an audit's results, all of it but what the attack found; report/results.h reads it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "defences/defence_plan.h"
#include "federated/local_training.h"

namespace undertext {

inline constexpr const char* kCuriousServer = "curious-server";
inline constexpr const char* kMaliciousServer = "malicious-server";

struct RowFacts {
  std::string id, attack, method;
  bool oracle = false;
  std::string threat_model = kCuriousServer;
  std::size_t messages = 0;  // of one client, also where the updates of several are summed
  std::string protocol = "FedSGD";
  LocalTraining training;  // as it is without the defence, so that rows compare
  DefencePlan plan;
  std::optional<Guarantee> promise;
  std::optional<std::string> told;  // what the attack knew of the defence and used
  std::optional<double> chance;     // the leak of whoever guesses
  std::optional<double> perplexity_before, perplexity_after;
  std::optional<double> training_seconds;
};

nlohmann::json row_json(const RowFacts& facts);

// What the server is that follows the protocol: an entry of the results' threat_models.
nlohmann::json curious_server_json();

}  // namespace undertext
