// Every cell of experiments, for other programs.
#pragma once

#include <string>
#include <vector>

#include "report/experiment.h"

namespace undertext {

// One row per cell, quoted as RFC 4180 says, lines ended by a line feed. A value is empty where the cell has
// none. A text that a spreadsheet would take for a formula gets an apostrophe before it.
std::string experiment_csv(const std::vector<ReportedExperiment>& experiments);

// One object per line and cell, with its sample of messages and its words. Numbers that JSON cannot hold are
// the texts "Infinity", "-Infinity" and "NaN".
std::string experiment_json_lines(const std::vector<ReportedExperiment>& experiments);

std::string state_name(CellState state);  // "pending", "done", "failed"

// The number, or its name where JSON has no number for it.
nlohmann::json json_number(double value);

}  // namespace undertext
