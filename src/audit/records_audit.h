// The audit of whole federations: what one client reads of the others' records from the global models alone,
// without a defence and with some (record-level).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/model_cache.h"

namespace undertext {

struct RecordsAuditOptions {
  // The user's; nothing: built in. The model reads characters, or whatever its tokenizer gives, in one
  // stream.
  std::optional<std::filesystem::path> model, texts;
  std::uint64_t seed = 1;
  std::string command = "undertext audit --preset records";  // how this run is told in the results
  std::string pattern = "my social security number is {ddd}-{dd}-{dddd}";
  std::int64_t times = 8;       // how often a client's record stands among its texts
  std::int64_t watermarks = 1;  // how often the adversary's own text does
  std::int64_t clients = 4, per_round = 2, rounds = 30;
  std::int64_t per_client = 8'000;  // characters
  std::int64_t sequence = 100, epochs = 2, batch = 8;
  double learning_rate = 4e-3;
  // "all", "none" or specs.
  std::vector<std::string> defences = {"dropout-embedding:rate=0.2", "noised-embedding:sigma=1",
                                       "dpsgd:sigma=1,clip=1"};
  Note note = [](const std::string&) {};
};

// The results, as report/results.h reads them. All defences meet the same records, texts and rounds.
nlohmann::json run_records_audit(const RecordsAuditOptions& options);

}  // namespace undertext
