// All rounds' evidence on candidate records in one likelihood, and all victims at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attacks/records/exposure_table.h"
#include "attacks/records/record_attack.h"

namespace undertext {

// The rounds whose likeliest texts are candidates: the last model has forgotten the records of clients that
// took no part lately.
std::vector<std::int64_t> rounds_to_search(const FederationObservation& observation);

// texts: of each record of the table.
std::vector<VictimRecords> best_records(const FederationObservation& observation, const ExposureTable& table,
                                        const std::vector<std::string>& texts, double log2_texts,
                                        const std::vector<std::int64_t>& victims);

}  // namespace undertext
