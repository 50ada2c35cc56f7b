// Cells that are repetitions of each other, and what their numbers have in common.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/experiment.h"

namespace undertext {

struct Summary {
  std::int64_t n = 0;
  double mean = 0;
  std::optional<double> deviation;  // sample standard deviation (n - 1); nothing for fewer than two values
  double min = 0, max = 0;
};

// At least one value. Equal values have a deviation of exactly zero; one that is not finite leaves none.
Summary summary_of(const std::vector<double>& values);

struct MetricSummary {
  std::string metric;
  Summary summary;
};

// The cells with the same values on all axes. Only those that are done have numbers; the others are counted.
struct CellGroup {
  std::vector<nlohmann::json> values;  // one per axis
  std::vector<std::size_t> cells;      // indices of the experiment's cells
  std::int64_t done = 0, failed = 0, pending = 0;
  std::vector<MetricSummary> metrics;  // in the order of metric_infos()

  const Summary* find(const std::string& metric) const;  // null: defined in no cell
};

// In the order in which the values first appear.
std::vector<CellGroup> groups_of(const ReportedExperiment& experiment);

// The metrics of a cell that is done, what it cost to run it (seconds, peak_memory) among them.
std::vector<std::pair<std::string, double>> all_metrics(const ReportedCell& cell);

// The metrics that any cell of the experiment has, in the order of metric_infos().
std::vector<std::string> metrics_of(const ReportedExperiment& experiment);

struct CellCounts {
  std::int64_t done = 0, failed = 0, pending = 0;
  std::int64_t all() const { return done + failed + pending; }
};

CellCounts counts_of(const ReportedExperiment& experiment);

// "12 cells done", "10 of 12 cells done, 1 failed, 1 pending".
std::string counts_text(const CellCounts& counts);

}  // namespace undertext
