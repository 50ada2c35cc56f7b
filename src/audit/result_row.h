// A row of an audit's results, all of it but what the attack found; report/results.h reads it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "federated/local_training.h"

namespace undertext {

inline constexpr const char* kCuriousServer = "curious-server";
inline constexpr const char* kMaliciousServer = "malicious-server";

struct RowFacts {
  std::string id, attack, method;
  bool oracle = false;
  std::string threat_model = kCuriousServer;
  std::size_t messages = 0;
  std::string protocol = "FedSGD";
  LocalTraining training;
  std::string defence = "none";
  double sigma = 0;  // of the defence's noise
  std::optional<double> perplexity_before, perplexity_after;
};

nlohmann::json row_json(const RowFacts& facts);

// What the server is that follows the protocol: an entry of the results' threat_models.
nlohmann::json curious_server_json();

}  // namespace undertext
