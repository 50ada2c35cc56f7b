// The published attacks on candidates whose exposures are known: the baseline and record-level's algorithms 1
// and 2.
#pragma once

#include "attacks/records/exposure_table.h"
#include "attacks/records/record_attack.h"

namespace undertext {

// texts: of each record of the table. Victims and watermarks were checked.
std::vector<VictimRecords> published_records(const FederationObservation& observation,
                                             const ExposureTable& table,
                                             const std::vector<std::string>& texts, double log2_texts,
                                             const RecordAttack& attack);

}  // namespace undertext
