// An experiment as its file states it: what it is called, what it plots, and every combination of its values.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/experiment.h"

namespace undertext {

struct ExperimentRequest {
  std::filesystem::path file;
  std::string profile;            // empty: the values as they stand
  std::vector<std::string> sets;  // "federation.epochs=10", each over the profile's values
};

struct ExperimentFile {
  std::filesystem::path file;
  std::string name, title, source, says;
  std::vector<ReportedPlot> plots;
  std::vector<nlohmann::json> cells;  // section -> value -> number, text or truth value; no two alike
};

// UserError that names the file, the line, what is wrong, and for an unknown key the nearest valid one.
ExperimentFile read_experiment(const ExperimentRequest& request);

}  // namespace undertext
