#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/metric_info.h"
#include "report/student_t.h"
#include "report/value_labels.h"

namespace undertext {
namespace {

using nlohmann::json;

// One side of a group: its experiment and its cells.
struct Side {
  const ReportedExperiment& experiment;
  const CellGroup& group;
};

using Repetition = std::pair<std::string, std::uint64_t>;  // texts and seed

// The metric of each repetition; empty when two cells claim to be the same one, which then cannot be paired.
std::map<Repetition, double> by_repetition(const Side& side, const std::string& metric) {
  std::map<Repetition, double> values;
  for (const std::size_t index : side.group.cells) {
    const ReportedCell& cell = side.experiment.cells[index];
    for (const auto& [name, value] : all_metrics(cell))
      if (name == metric && !values.try_emplace({cell.texts, cell.seed}, value).second) return {};
  }
  return values;
}

std::vector<double> paired_differences(const Side& first, const Side& second, const std::string& metric) {
  std::vector<double> differences;
  const auto others = by_repetition(second, metric);
  for (const auto& [repetition, value] : by_repetition(first, metric)) {
    const auto other = others.find(repetition);
    if (other != others.end()) differences.push_back(other->second - value);
  }
  return differences;
}

// Differences that rounding alone can make: the same cell on another machine.
bool only_rounding(double difference, const Summary& first, const Summary& second) {
  constexpr double kRounding = 1e-12;
  return std::abs(difference) <= kRounding * std::max(std::abs(first.mean), std::abs(second.mean));
}

// The sign of a difference that is more than chance.
Verdict direction(const std::string& metric, bool larger) {
  switch (metric_info(metric).larger) {
    case LargerMeans::more_leak:
      return larger ? Verdict::leaks_more : Verdict::leaks_less;
    case LargerMeans::worse:
      return larger ? Verdict::worse : Verdict::better;
    default:
      return larger ? Verdict::larger : Verdict::smaller;
  }
}

Verdict beyond(const ComparedMetric& compared, double degrees) {
  const double chance = *compared.error * student_t_95(degrees);
  if (std::abs(compared.difference) <= chance) return Verdict::no_difference;
  return direction(compared.metric, compared.difference > 0);
}

// From the differences of paired repetitions.
void judge_pairs(ComparedMetric& compared, const std::vector<double>& differences) {
  const Summary summary = summary_of(differences);
  compared.pairs = summary.n;
  compared.difference = summary.mean;
  const double n = static_cast<double>(summary.n);
  if (summary.deviation) compared.error = *summary.deviation / std::sqrt(n);
  const bool same = std::ranges::all_of(differences, [&](double difference) {
    return only_rounding(difference, compared.first, compared.second);
  });
  if (same)
    compared.verdict = Verdict::same;
  else
    compared.verdict = compared.error ? beyond(compared, n - 1) : Verdict::unknown_spread;
}

// From the spreads of both sides, which have nothing to do with each other.
void judge_independent(ComparedMetric& compared) {
  const Summary &first = compared.first, &second = compared.second;
  compared.difference = second.mean - first.mean;
  const bool spread = first.deviation.value_or(0) > 0 || second.deviation.value_or(0) > 0;
  if (!spread && only_rounding(compared.difference, first, second)) {
    compared.verdict = Verdict::same;
  } else if (!first.deviation || !second.deviation) {
    compared.verdict = Verdict::unknown_spread;
  } else {
    const auto n1 = static_cast<double>(first.n), n2 = static_cast<double>(second.n);
    const double v1 = *first.deviation * *first.deviation / n1,
                 v2 = *second.deviation * *second.deviation / n2;
    compared.error = std::sqrt(v1 + v2);
    // Welch and Satterthwaite.
    const double degrees =
        v1 + v2 > 0 ? (v1 + v2) * (v1 + v2) / (v1 * v1 / (n1 - 1) + v2 * v2 / (n2 - 1)) : 1;
    compared.verdict = beyond(compared, std::max(1.0, degrees));
  }
}

ComparedMetric compared_metric(const Side& first, const Side& second, const std::string& metric) {
  ComparedMetric compared;
  compared.metric = metric;
  compared.first = *first.group.find(metric);
  compared.second = *second.group.find(metric);
  const double a = compared.first.mean, b = compared.second.mean;
  if (!std::isfinite(a) || !std::isfinite(b)) {
    compared.difference = a == b ? 0 : b - a;
    compared.verdict = std::isnan(a) || std::isnan(b) ? Verdict::not_a_number
                       : a == b                       ? Verdict::same
                                                      : direction(metric, b > a);
    return compared;
  }
  const auto differences = paired_differences(first, second, metric);
  const bool only_one = differences.size() == 1 && compared.first.n == 1 && compared.second.n == 1;
  if (differences.size() > 1 || only_one)
    judge_pairs(compared, differences);
  else
    judge_independent(compared);
  return compared;
}

CellCounts counts_of_group(const CellGroup& group) {
  return {group.done, group.failed, group.pending};
}

ComparedGroup compared_group(const NamedValues& values, const Side& first, const Side& second) {
  ComparedGroup compared;
  compared.values = values;
  compared.first = counts_of_group(first.group);
  compared.second = counts_of_group(second.group);
  for (const MetricSummary& metric : first.group.metrics) {
    if (second.group.find(metric.metric) != nullptr)
      compared.metrics.push_back(compared_metric(first, second, metric.metric));
    else
      compared.only_in_first.push_back(metric.metric);
  }
  for (const MetricSummary& metric : second.group.metrics)
    if (first.group.find(metric.metric) == nullptr) compared.only_in_second.push_back(metric.metric);
  return compared;
}

// The values of a group under these names: of its axes, or shared by all cells. A name that the experiment
// does not know is left out, and then matches nothing that has it.
NamedValues values_under(const std::vector<std::string>& names, const ReportedExperiment& experiment,
                         const CellGroup& group) {
  NamedValues values;
  for (const std::string& name : names) {
    const auto axis = std::ranges::find(experiment.axes, name);
    if (axis != experiment.axes.end()) {
      values.emplace_back(name, group.values[static_cast<std::size_t>(axis - experiment.axes.begin())]);
      continue;
    }
    for (const auto& [setting, value] : experiment.settings) {
      if (setting != name) continue;
      values.emplace_back(name, value);
      break;
    }
  }
  return values;
}

std::string key_of(const NamedValues& values) {
  std::string key;
  for (const auto& [name, value] : values) {
    const std::string part = value_key(value);
    key += fmt::format("{}:{}{}:{}", name.size(), name, part.size(), part);
  }
  return key;
}

std::vector<std::string> all_axes(const ReportedExperiment& first, const ReportedExperiment& second) {
  std::vector<std::string> names = first.axes;
  for (const std::string& name : second.axes)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

ComparedExperiment compared_experiment(const ReportedExperiment& first, const ReportedExperiment& second) {
  ComparedExperiment compared;
  compared.name = first.name;
  compared.title = second.title.empty() ? first.title : second.title;
  const auto names = all_axes(first, second);
  const auto groups = groups_of(second);
  std::map<std::string, const CellGroup*> waiting;
  for (const CellGroup& group : groups) waiting[key_of(values_under(names, second, group))] = &group;
  for (const CellGroup& group : groups_of(first)) {
    const NamedValues values = values_under(names, first, group);
    const auto match = waiting.find(key_of(values));
    if (match == waiting.end()) {
      compared.only_in_first.push_back(values);
      continue;
    }
    compared.groups.push_back(compared_group(values, {first, group}, {second, *match->second}));
    waiting.erase(match);
  }
  for (const CellGroup& group : groups) {
    const NamedValues values = values_under(names, second, group);
    if (waiting.contains(key_of(values))) compared.only_in_second.push_back(values);
  }
  return compared;
}

void add_failures(const std::vector<ReportedExperiment>& experiments, bool in_first, Comparison& comparison) {
  for (const ReportedExperiment& experiment : experiments) {
    for (const ReportedCell& cell : experiment.cells) {
      if (cell.state != CellState::failed) continue;
      NamedValues values;
      for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis)
        values.emplace_back(experiment.axes[axis], cell_value(cell, axis));
      comparison.failures.push_back(
          {in_first, experiment.name, std::move(values), cell.texts, cell.seed, cell.error});
    }
  }
}

const ReportedExperiment* named(const std::vector<ReportedExperiment>& experiments, const std::string& name) {
  const auto found = std::ranges::find(experiments, name, &ReportedExperiment::name);
  return found == experiments.end() ? nullptr : &*found;
}

}  // namespace

std::string verdict_text(Verdict verdict) {
  static constexpr const char* kTexts[] = {"leaks more",
                                           "leaks less",
                                           "better",
                                           "worse",
                                           "larger",
                                           "smaller",
                                           "no difference beyond the spread",
                                           "one repetition: no spread known",
                                           "the same",
                                           "not a number: cannot be compared"};
  return kTexts[static_cast<int>(verdict)];
}

Comparison compare_experiments(const std::vector<ReportedExperiment>& first,
                               const std::vector<ReportedExperiment>& second) {
  Comparison comparison;
  for (const ReportedExperiment& experiment : first) {
    if (const ReportedExperiment* other = named(second, experiment.name))
      comparison.experiments.push_back(compared_experiment(experiment, *other));
    else
      comparison.only_in_first.push_back(experiment.name);
  }
  for (const ReportedExperiment& experiment : second)
    if (named(first, experiment.name) == nullptr) comparison.only_in_second.push_back(experiment.name);
  add_failures(first, true, comparison);
  add_failures(second, false, comparison);
  return comparison;
}

}  // namespace undertext
