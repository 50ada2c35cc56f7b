// The audit of transformers: what a curious server and a malicious one read from the same clients' gradients,
// without a defence and with some (decepticons, section 4 and appendix G; film, sections 5 and 6.3).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/public_transformer.h"

namespace undertext {

struct TransformerAuditOptions {
  // The user's; nothing: built in. ids: texts as token ids.
  std::optional<std::filesystem::path> model, texts, ids;
  std::optional<std::filesystem::path> cache = user_cache();
  std::uint64_t seed = 1;
  std::string command = "undertext audit --preset transformer";  // how this run is told in the results
  TransformerRecipe recipe = *recipe_named("built-in:gpt2");
  std::vector<std::int64_t> sizes = {1, 4, 8, 32};  // sequences per client
  std::int64_t length = 16;                         // tokens per sequence
  // "all", "none" or specs; "all" and what is given here on clients of the defended sizes alone.
  std::optional<std::vector<std::string>> defences;
  std::vector<std::int64_t> defended_sizes = {4};
  // Where nothing is given: on all clients.
  std::vector<std::string> standard_defences = {
      "clipping:clip=1", "noise-on-result:sigma=1e-08,clip=1", "noise-on-result:sigma=1e-06,clip=1",
      "noise-on-result:sigma=0.0001,clip=1", "noise-on-result:sigma=0.01,clip=1"};
  std::int64_t film_sequences = 8;  // clients with more are not read by FILM: minutes each
  double learning_rate = 0.01;      // of the step that is attacked
  // What a defence costs: all clients of a federation run it, which trains a fresh model, a step in each
  // round.
  std::int64_t utility_rounds = 16, utility_clients = 4, utility_sequences = 8;
  double utility_rate = 0.1;
  std::int64_t held_out = 500;                   // messages on which it is, at most
  std::int64_t matching_steps = 200;             // of TAG; of DLG, whose steps are dearer, a quarter
  std::int64_t matching_parameters = 5'000'000;  // larger models are not tried: it would take hours
  Note note = [](const std::string&) {};
};

// The results, as report/results.h reads them. A client has the same sequences under every adversary and
// defence, so that rows compare.
nlohmann::json run_transformer_audit(const TransformerAuditOptions& options);

}  // namespace undertext
