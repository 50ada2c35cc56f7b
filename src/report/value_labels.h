// The values of an experiment's file in plain words: "federation.epochs" is shown as "epochs".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/experiment.h"

namespace undertext {

// The last part of each name, with as much of what stands before it as tells it from the others; "name" and
// "kind" say nothing by themselves, so "defence.name" becomes "defence".
std::vector<std::string> value_labels(const std::vector<std::string>& names);

// "16", "0.001", "yes", "noise".
std::string value_text(const nlohmann::json& value);

// Equal for equal values, whatever way a number is written; a number never equals a text.
std::string value_key(const nlohmann::json& value);

// The cell's value of an axis; null where there is none.
const nlohmann::json& cell_value(const ReportedCell& cell, std::size_t axis);

}  // namespace undertext
