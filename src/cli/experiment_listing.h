// Lists that undertext run prints in place of running anything.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audit/store/result_store.h"

namespace undertext {

// What a file may hold, by the schema that reads it.
std::string key_listing();

// Every cell with what tells it apart and what became of it; the store in `out` is looked at where there is
// one, and not touched.
std::string cell_listing(const std::vector<FrozenExperiment>& experiments, const std::filesystem::path& out);

}  // namespace undertext
