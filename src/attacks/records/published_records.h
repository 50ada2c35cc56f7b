// The published attacks on candidates whose exposures are known: the baseline and record-level's algorithms 1
// and 2, by the published formula or the wide one.
#pragma once

#include "attacks/records/exposure_table.h"
#include "attacks/records/record_attack.h"

namespace undertext {

// The candidates that are ranked.
struct RankedFrom {
  ExposureTable table;
  std::vector<std::string> texts;  // of each record of the table
  std::int64_t of_last = 0;        // the first so many are the likeliest after the last round
  std::int64_t models = 1;         // the last so many were searched; their exposures are averaged
  double log2_texts = 0;           // of the pattern
};

// Victims and watermarks were checked.
std::vector<VictimRecords> published_records(const FederationObservation& observation, const RankedFrom& from,
                                             const RecordAttack& attack);

}  // namespace undertext
