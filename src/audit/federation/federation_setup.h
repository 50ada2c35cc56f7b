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
#include "audit/federation/char_lstm_recipe.h"
#include "audit/federation/federation_texts.h"
#include "defences/defence_plan.h"
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

// The model that everybody starts from, and how it reads text.
struct FederationStart {
  std::shared_ptr<const LanguageModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
};
// A character LSTM with random weights, which reads the federation's alphabet.
FederationStart fresh_start(const CharLstmConfig& config, const FederationTexts& texts, Seed weights);

// The parties that have these texts, without options and defences. from: what texts and model came from, for
// messages. UserError where the model has no tokens for what was planted.
PreparedFederation seated(FederationTexts texts, const TextCut& cut, FederationStart start,
                          const std::filesystem::path& from);

// The one federation of a file, as a cell without what attacks it. UserError that says which values are lists
// where there are several, and where there is none.
nlohmann::json one_federation(const ExperimentFile& file);

// Sets what the defences do in it: on the clients, in their texts, where their updates are put together.
// UserError where one of them cannot be.
void defend(PreparedFederation& federation, const DefencePlan& plan, Seed seed);

// What the defences promise after so many rounds: of a client with all its texts, or else of one piece of
// text that one of its steps reads, for a client that takes part in all of them. Nothing: no promise.
std::optional<Guarantee> promise_of(const PreparedFederation& federation, const DefencePlan& plan,
                                    std::int64_t rounds);

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
