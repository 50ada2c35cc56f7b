// One update under all attacks: the rows and samples that it adds to the results of an audit.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "federated/local_training.h"
#include "federated/observation.h"
#include "text/tokenizer.h"

namespace undertext {

struct AttackedUpdate {
  const Observation& observation;
  const Tokenizer& tokenizer;
  std::span<const Sentence> truth;  // meets the recovered texts in the metrics alone
  std::string protocol;             // FedSGD, FedAvg
  LocalTraining training;
  double sigma = 0;  // of the noise per step; 0: no defence
  std::optional<double> perplexity_before, perplexity_after;
};

// How many rows add_rows will add.
int rows_of(std::int64_t messages, double sigma, std::int64_t epochs);

// Appends to rows and samples, calling `done` after each row.
void add_rows(const AttackedUpdate& update, nlohmann::json& rows, nlohmann::json& samples,
              const std::function<void()>& done);

}  // namespace undertext
