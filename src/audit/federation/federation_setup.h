// From an experiment's values to a federation that can be run: texts shared out, records planted, the model
// made.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "audit/experiment/experiment_file.h"
#include "audit/experiment/sources.h"
#include "federated/federation.h"
#include "federated/planting.h"

namespace undertext {

struct PreparedFederation {
  FederationParties parties;
  FederationOptions options;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string recipe;          // what the defences do, for run_federation()
  std::vector<Sentence> test;  // texts that nobody trains on or stops by
  PlantedTexts records;        // the truth; no texts: none were planted
  PlantedTexts watermarks;     // what the adversary knows of its own doing
};

// The one federation of a file, as a cell without what attacks it. UserError that says which values are lists
// where there are several, and where there is none.
nlohmann::json one_federation(const ExperimentFile& file);

// cell: of an experiment's file, whose folder paths start from. UserError where something is missing, does
// not fit, or means nothing in a federation.
PreparedFederation prepare_federation(const nlohmann::json& cell, const std::filesystem::path& file,
                                      Sources& sources);

// The truth and the watermarks beside the folder that an adversary sees: DIR.truth.json, DIR.watermarks.json;
// only those that there are.
std::filesystem::path truth_file(const std::filesystem::path& folder);
std::filesystem::path watermark_file(const std::filesystem::path& folder);
void write_planted_beside(const std::filesystem::path& folder, const PreparedFederation& federation);

}  // namespace undertext
