// What a client does about leaks, as flags of the verbs in which it trains.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "federated/defence.h"

namespace undertext {

class DefenceFlags {
 public:
  // The defences that act on every step, and those on what is sent.
  void add_flags(CLI::App& app);
  // The first alone.
  void add_step_flags(CLI::App& app);

  // UserError where a number is out of range.
  std::vector<std::shared_ptr<const ClientDefence>> defences(Seed seed) const;
  // By the names that results have for them.
  nlohmann::json json() const;

 private:
  void add_noise_kind(CLI::App& app);

  std::string noise_ = "gaussian", prune_scope_ = "each";
  double noise_per_step_ = 0, noise_final_ = 0, dp_noise_ = 0;
  std::optional<double> clip_, prune_, dp_clip_;
};

}  // namespace undertext
