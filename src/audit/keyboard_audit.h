// The audit of next-word keyboards: clients of several sizes train under several protocols, with and without
// defences, and every update is attacked (gboard-next-word, sections 4 to 6 and 8).
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
  std::int64_t batch = 0;             // messages per step; 0: all in one
  std::vector<std::string> defences;  // to try, besides none
};

inline const std::vector<std::string> kSomeNoise = {"noise-per-step:sigma=0.1", "noise-per-step:sigma=1",
                                                    "noise-per-step:sigma=10"};

struct AuditOptions {
  // The user's; nothing: built in. ids: texts as token ids.
  std::optional<std::filesystem::path> model, texts, ids;
  std::optional<std::filesystem::path> cache = user_cache();
  std::uint64_t seed = 1;
  std::string command = "undertext audit";  // how this run is told in the results
  PublicModelRecipe recipe;
  std::vector<std::int64_t> sizes = {16, 64, 256};  // messages per client
  std::vector<AuditedProtocol> protocols = {{"FedSGD", 1, 0, kSomeNoise},
                                            {"FedAvg", 1, 32, {}},
                                            {"FedAvg", 10, 32, kSomeNoise},
                                            {"FedAvg", 50, 32, {}}};
  // Instead of the protocols' own: "all", "none" or specs, under the protocols that have some, on clients of
  // these sizes.
  std::optional<std::vector<std::string>> defences;
  std::vector<std::int64_t> defended_sizes = {16};
  double learning_rate = 0.001;
  std::int64_t held_out = 1'000;  // messages on which the utility is measured, at most
  // What a defence costs: all clients of a federation run it, which trains a fresh model in steps on so many
  // messages, at a rate chosen for that.
  double utility_rate = 0.01;
  std::int64_t utility_rounds = 8, utility_clients = 4, utility_messages = 64, utility_batch = 16;
  Note note = [](const std::string&) {};
};

// The results, as report/results.h reads them. Each client has its own messages; those of one size are the
// same under every protocol and defence, so that rows compare.
nlohmann::json run_keyboard_audit(const AuditOptions& options);

}  // namespace undertext
