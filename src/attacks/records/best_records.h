// All rounds' evidence on records in one likelihood, and all victims at once.
#pragma once

#include <cstdint>
#include <vector>

#include "attacks/records/record_attack.h"
#include "attacks/records/token_pattern.h"

namespace undertext {

struct BestRecords {
  std::vector<VictimRecords> victims;
  std::int64_t first_round = 0;  // whose model is the earliest that was read
  std::int64_t proven = 0;       // of each victim's candidates at least so many are its likeliest
};

// context: what stands before a record.
BestRecords best_records(const FederationObservation& observation, const RecordPattern& pattern,
                         const TokenPattern& tokens, const Sentence& context,
                         const std::vector<std::int64_t>& victims, std::int64_t candidates);

}  // namespace undertext
