// What a store holds, as reports show it.
#pragma once

#include <filesystem>
#include <vector>

#include "audit/store/result_store.h"
#include "report/experiment.h"

namespace undertext {

ReportedExperiment reported(const ResultStore& store, const std::string& experiment);

// All experiments of a folder that undertext run wrote; UserError that names it where it is none.
std::vector<ReportedExperiment> read_experiments(const std::filesystem::path& folder);

}  // namespace undertext
