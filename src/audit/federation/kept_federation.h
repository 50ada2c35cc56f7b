// A federation that several cells attack: run once, kept in the cache, gone on with where it was interrupted.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/experiment/sources.h"
#include "defences/defence_plan.h"
#include "federated/federation_observation.h"
#include "federated/planting.h"

namespace undertext {

struct KeptFederation {
  FederationObservation observation;  // what attacks get
  PlantedTexts records;               // the truth, for scores alone
  PlantedTexts watermarks;            // the adversary's own
  std::vector<Sentence> test;         // on which the utility is measured
  // What its defences promise after so many rounds.
  std::function<std::optional<Guarantee>(std::int64_t rounds)> promise;
};

// cell: of an experiment's file, as prepare_federation() takes it. key: names everything that the federation
// depends on. Others that want the same one, in this process or another, wait until it is there. Without a
// cache it is held in memory.
KeptFederation kept_federation(const nlohmann::json& cell, const std::filesystem::path& file,
                               const std::string& key, Sources& sources);

}  // namespace undertext
