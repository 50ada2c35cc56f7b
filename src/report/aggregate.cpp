#include "report/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "report/metric_info.h"
#include "report/value_labels.h"

namespace undertext {
namespace {

// Equal for cells of one group. The length keeps apart texts that hold the separator.
std::string group_key(const ReportedCell& cell, std::size_t axes) {
  std::string key;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::string part = value_key(cell_value(cell, axis));
    key += fmt::format("{}:{}", part.size(), part);
  }
  return key;
}

void summarize(const ReportedExperiment& experiment, CellGroup& group) {
  std::map<std::string, std::vector<double>> values;
  std::vector<std::string> names;
  for (const std::size_t index : group.cells) {
    for (const auto& [name, value] : all_metrics(experiment.cells[index])) {
      values[name].push_back(value);
      names.push_back(name);
    }
  }
  for (const std::string& name : in_metric_order(std::move(names)))
    group.metrics.push_back({name, summary_of(values.at(name))});
}

template <typename Counts>
void count_state(CellState state, Counts& counts) {
  (state == CellState::done ? counts.done : state == CellState::failed ? counts.failed : counts.pending) += 1;
}

}  // namespace

Summary summary_of(const std::vector<double>& values) {
  UNDERTEXT_CHECK(!values.empty());
  Summary summary;
  summary.n = static_cast<std::int64_t>(values.size());
  std::tie(summary.min, summary.max) =
      std::pair(*std::ranges::min_element(values), *std::ranges::max_element(values));
  const bool equal = summary.min == summary.max && !std::isnan(values.front());
  double sum = 0;
  for (const double value : values) sum += value;
  const auto n = static_cast<double>(values.size());
  summary.mean = equal ? values.front() : sum / n;
  if (values.size() < 2 || !std::isfinite(summary.mean)) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = equal ? 0 : std::sqrt(squares / (n - 1));
  return summary;
}

const Summary* CellGroup::find(const std::string& metric) const {
  const auto found = std::ranges::find(metrics, metric, &MetricSummary::metric);
  return found == metrics.end() ? nullptr : &found->summary;
}

std::vector<CellGroup> groups_of(const ReportedExperiment& experiment) {
  std::vector<CellGroup> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t index = 0; index < experiment.cells.size(); ++index) {
    const ReportedCell& cell = experiment.cells[index];
    const auto [place, fresh] = places.try_emplace(group_key(cell, experiment.axes.size()), groups.size());
    if (fresh) {
      groups.emplace_back();
      for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis)
        groups.back().values.push_back(cell_value(cell, axis));
    }
    groups[place->second].cells.push_back(index);
    count_state(cell.state, groups[place->second]);
  }
  for (CellGroup& group : groups) summarize(experiment, group);
  return groups;
}

std::vector<std::pair<std::string, double>> all_metrics(const ReportedCell& cell) {
  if (cell.state != CellState::done) return {};
  std::vector<std::pair<std::string, double>> all;
  const auto add = [&](const std::string& name, double value) {
    const bool known = std::ranges::any_of(all, [&](const auto& metric) { return metric.first == name; });
    if (!known) all.emplace_back(name, value);
  };
  for (const auto& [name, value] : cell.metrics) add(name, value);
  add("seconds", cell.seconds);
  add("peak_memory", static_cast<double>(cell.peak_memory));
  return all;
}

std::vector<std::string> metrics_of(const ReportedExperiment& experiment) {
  std::vector<std::string> names;
  for (const ReportedCell& cell : experiment.cells)
    for (const auto& [name, value] : all_metrics(cell))
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return in_metric_order(std::move(names));
}

CellCounts counts_of(const ReportedExperiment& experiment) {
  CellCounts counts;
  for (const ReportedCell& cell : experiment.cells) count_state(cell.state, counts);
  return counts;
}

std::string counts_text(const CellCounts& counts) {
  const auto cells = [](std::int64_t count) { return count == 1 ? "cell" : "cells"; };
  if (counts.done == counts.all()) return fmt::format("{} {} done", counts.done, cells(counts.done));
  std::string text = fmt::format("{} of {} {} done", counts.done, counts.all(), cells(counts.all()));
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.pending > 0) text += fmt::format(", {} pending", counts.pending);
  return text;
}

}  // namespace undertext
