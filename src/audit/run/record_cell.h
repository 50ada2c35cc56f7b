// Cells that read records from whole federations.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "attacks/records/record_attack.h"
#include "audit/experiment/sources.h"
#include "audit/federation/kept_federation.h"
#include "metrics/record_scores.h"

namespace undertext {

// Whether a frozen cell is one.
bool attacks_federation(const nlohmann::json& config);

// Keeps the last federation, for cells that attack the same one.
class RecordCells {
 public:
  explicit RecordCells(Sources& sources) : sources_(sources) {}

  // metrics and sample, as every cell gives them.
  nlohmann::json result_of(const nlohmann::json& config);

 private:
  Sources& sources_;
  std::string key_;
  std::unique_ptr<const KeptFederation> last_;
};

// "baseline", "eavesdrop", "watermark", "best".
RecordMethod record_method_named(const std::string& name);

// The true record of every victim beside the candidate that is ranked first, as samples of results hold them.
nlohmann::json record_pairs(const RecordRecovery& recovery, const PlantedTexts& truth);

// What an attack found, against what was planted.
RecordScores score_recovery(const RecordRecovery& recovery, const PlantedTexts& truth);

}  // namespace undertext
