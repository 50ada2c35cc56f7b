// The audit of next-word keyboards: clients of several sizes train under several protocols, with and without
// noise, and every update is attacked (gboard-next-word, sections 4 to 6).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/public_model.h"

namespace undertext {

struct AuditedProtocol {
  std::string name;  // FedSGD: one step on all messages; FedAvg
  std::int64_t epochs = 1;
  std::int64_t batch = 0;     // messages per step; 0: all in one
  std::vector<double> noise;  // sigmas of the noise per step to try, besides none
};

struct AuditOptions {
  // The user's; nothing: built in. ids: texts as token ids.
  std::optional<std::filesystem::path> model, texts, ids;
  std::optional<std::filesystem::path> cache = user_cache();
  std::uint64_t seed = 1;
  std::string command = "undertext audit";  // how this run is told in the results
  PublicModelRecipe recipe;
  std::vector<std::int64_t> sizes = {16, 64, 256};  // messages per client
  std::vector<AuditedProtocol> protocols = {{"FedSGD", 1, 0, {0.1, 1, 10}},
                                            {"FedAvg", 1, 32, {}},
                                            {"FedAvg", 10, 32, {0.1, 1, 10}},
                                            {"FedAvg", 50, 32, {}}};
  double learning_rate = 0.001;
  std::int64_t held_out = 1'000;  // messages on which the utility is measured, at most
  Note note = [](const std::string&) {};
};

// The results, as report/results.h reads them. Each client has its own messages; those of one size are the
// same under every protocol and defence, so that rows compare.
nlohmann::json run_keyboard_audit(const AuditOptions& options);

}  // namespace undertext
