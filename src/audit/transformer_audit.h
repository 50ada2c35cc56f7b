// The audit of transformers: what a curious server and a malicious one read from the same clients' gradients,
// without a defence and with clipping and noise (decepticons, section 4 and appendix G).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/public_transformer.h"

namespace undertext {

struct AuditedDefence {
  std::string name = "none";
  double clip = 0;   // largest norm of the gradient; 0: as it is
  double sigma = 0;  // of Gaussian noise on what is sent
};

struct TransformerAuditOptions {
  // The user's; nothing: built in. ids: texts as token ids.
  std::optional<std::filesystem::path> model, texts, ids;
  std::optional<std::filesystem::path> cache = user_cache();
  std::uint64_t seed = 1;
  std::string command = "undertext audit --preset transformer";  // how this run is told in the results
  TransformerRecipe recipe = *recipe_named("built-in:gpt2");
  std::vector<std::int64_t> sizes = {1, 8, 32};  // sequences per client
  std::int64_t length = 16;                      // tokens per sequence
  std::vector<AuditedDefence> defences = {{},
                                          {"clipping to 1", 1, 0},
                                          {"clipping to 1 and noise", 1, 1e-8},
                                          {"clipping to 1 and noise", 1, 1e-6},
                                          {"clipping to 1 and noise", 1, 1e-4},
                                          {"clipping to 1 and noise", 1, 1e-2}};
  std::int64_t film_sequences = 8;               // clients with more are not read by FILM: minutes each
  double learning_rate = 0.01;                   // of the one step after which the utility is measured
  std::int64_t held_out = 500;                   // messages on which it is, at most
  std::int64_t matching_steps = 200;             // of TAG; of DLG, whose steps are dearer, a quarter
  std::int64_t matching_parameters = 5'000'000;  // larger models are not tried: it would take hours
  Note note = [](const std::string&) {};
};

// The results, as report/results.h reads them. A client has the same sequences under every adversary and
// defence, so that rows compare.
nlohmann::json run_transformer_audit(const TransformerAuditOptions& options);

}  // namespace undertext
