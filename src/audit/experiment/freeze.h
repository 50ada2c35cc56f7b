// From an experiment's file to cells that can no longer change: models and texts found and named by their
// content, clients chosen, every cell with its key.
#pragma once

#include <string>
#include <vector>

#include "audit/experiment/experiment_file.h"
#include "audit/experiment/sources.h"
#include "audit/store/result_store.h"

namespace undertext {

// A cell's config holds under
//   model       folder (its name), hash
//   texts       files (the name), hash, client, words; held_out_hash, held_out_from where a utility is
//   measured federation, defence, attack, metrics, run    what the file says, lists resolved places where
//   this machine has the model and the texts; not part of the key
// command: how the user asked for it. UserError where a model or a text is missing or too short.
FrozenExperiment freeze_experiment(const ExperimentFile& file, const ExperimentRequest& request,
                                   Sources& sources, const std::string& command);

// The hash of a config and the version of the program, 32 digits.
std::string key_of_cell(const nlohmann::json& config);

// What the cells share that are attacks on one and the same update.
std::string update_key(const nlohmann::json& config);

// How long a cell takes, roughly, in units of its own: what is run first.
double cost_of(const nlohmann::json& config);

// The value by its full name ("federation.epochs"); null where the cell has none.
nlohmann::json value_of(const nlohmann::json& config, const std::string& name);

}  // namespace undertext
