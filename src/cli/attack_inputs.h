// What the attacks share: their files, and how they speak of the adversary.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/text_inputs.h"
#include "federated/observation.h"
#include "text/tokenizer.h"

namespace undertext {

struct AttackFlags {
  std::filesystem::path model, update;
  TextInputs truth;
  // Of updates that say nothing of themselves; empty or 0: not given.
  std::string kind, reduction;
  double learning_rate = 0;
  std::int64_t epochs = 0, batch = 0;
  std::filesystem::path names;
  std::int64_t count = 0;  // texts; 0: unknown, or as the update says
  bool json = false;
  bool all = false;  // every line of the answer, not the first ones
};

void add_attack_flags(CLI::App& app, AttackFlags& flags);

struct AttackInputs {
  std::shared_ptr<const Tokenizer> tokenizer;
  Observation observation;
  std::vector<Sentence> truth;  // for scores alone; empty when not given
};

// UserError that names the file for whatever does not fit.
AttackInputs read_attack_inputs(const AttackFlags& flags);

// "FedAvg weights, 10 epochs, batch 32, learning rate 0.001, sum, 64 messages": what the update says of
// itself.
std::string protocol_text(const Protocol& protocol);

// One line on who reads here and from what.
std::string threat_model_text();

inline constexpr std::size_t kFirstLines = 20;  // shown without --all

// "... and 12 more (--all shows them)"; empty when nothing is left out.
std::string rest_text(std::size_t total, std::size_t shown);

}  // namespace undertext
