// What was read of records, against the truth: for the verb, for cells and for the audit alike.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attacks/records/record_attack.h"
#include "federated/planting.h"
#include "metrics/record_scores.h"

namespace undertext {

// "baseline", "eavesdrop", "watermark", "best".
RecordMethod record_method_named(const std::string& name);
// "paper", "wide".
RecordFormula record_formula_named(const std::string& name);

// The true record of every victim beside the candidate that is ranked first, as samples of results hold them.
nlohmann::json record_pairs(const RecordRecovery& recovery, const PlantedTexts& truth);

// What an attack found, against what was planted. UserError where the truth does not know a victim.
RecordScores score_recovery(const RecordRecovery& recovery, const PlantedTexts& truth);

}  // namespace undertext
