// How a comparison is shown: as a table, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/comparison.h"
#include "report/experiment_export.h"
#include "report/metric_info.h"
#include "report/text_table.h"
#include "report/text_width.h"
#include "report/value_labels.h"

namespace undertext {
namespace {

using nlohmann::ordered_json;

// One line of a table.
struct Change {
  const ComparedGroup* group;
  const ComparedMetric* metric;
};

// The changes of one experiment, largest first.
struct Changes {
  const ComparedExperiment* experiment;
  std::vector<Change> list;
};

bool differs(Verdict verdict) {
  return verdict != Verdict::no_difference && verdict != Verdict::same;
}

// Leak before utility before what is neither before the cost of running.
int importance(const MetricInfo& info) {
  if (info.kind == MetricKind::seconds || info.kind == MetricKind::bytes) return 0;
  return info.larger == LargerMeans::more_leak ? 3 : info.larger == LargerMeans::worse ? 2 : 1;
}

// What a change is ordered by, largest first: what is decided before what is not, then by importance, then by
// its size as a share of what is possible, or of the value itself.
std::tuple<bool, int, double> weight(const Change& change) {
  const ComparedMetric& metric = *change.metric;
  const MetricInfo info = metric_info(metric.metric);
  const bool decided = metric.verdict != Verdict::unknown_spread && metric.verdict != Verdict::not_a_number;
  const double most = std::max(std::abs(metric.first.mean), std::abs(metric.second.mean));
  const double scale = info.kind == MetricKind::fraction ? 1 : info.kind == MetricKind::ratio ? 100 : most;
  const double size = scale > 0 ? std::abs(metric.difference) / scale : 0;
  return {decided, importance(info), std::isnan(size) ? 0 : size};
}

// Experiments without a change are left out; the one with the largest comes first.
std::vector<Changes> changes_of(const Comparison& comparison) {
  std::vector<Changes> all;
  for (const ComparedExperiment& experiment : comparison.experiments) {
    Changes changes{&experiment, {}};
    for (const ComparedGroup& group : experiment.groups)
      for (const ComparedMetric& metric : group.metrics)
        if (differs(metric.verdict)) changes.list.push_back({&group, &metric});
    std::ranges::stable_sort(changes.list, std::ranges::greater(), weight);
    if (!changes.list.empty()) all.push_back(std::move(changes));
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Changes& changes) { return weight(changes.list.front()); });
  return all;
}

std::string side_text(const Summary& summary, MetricKind kind, bool compact) {
  std::string text = metric_text(kind, summary.mean);
  if (compact) return text;
  if (summary.deviation) text += " ± " + spread_text(kind, *summary.deviation);
  return fmt::format("{} ({})", text, summary.n);
}

std::string change_text(const ComparedMetric& metric, MetricKind kind) {
  std::string text = difference_text(kind, metric.difference);
  if (metric.error) text += " ± " + spread_text(kind, *metric.error);
  return text;
}

// "epochs 10, defence none".
std::string phrase_of(const NamedValues& values) {
  std::vector<std::string> names, parts;
  for (const auto& [name, value] : values) names.push_back(name);
  const auto labels = value_labels(names);
  for (std::size_t i = 0; i < values.size(); ++i)
    parts.push_back(labels[i] + " " + value_text(values[i].second));
  return printable(parts.empty() ? "all cells" : fmt::format("{}", fmt::join(parts, ", ")));
}

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::leaks_more:
    case Verdict::worse:
      return Tone::leak;
    case Verdict::leaks_less:
    case Verdict::better:
      return Tone::safe;
    case Verdict::unknown_spread:
    case Verdict::not_a_number:
      return Tone::faint;
    default:
      return Tone::plain;
  }
}

// compact: without the spread and number of the sides.
TextTable table_of(const Comparison& comparison, const std::vector<Change>& changes, bool compact) {
  TextTable table;
  table.columns = {{"where"},
                   {"metric"},
                   {printable(comparison.first_name), true},
                   {printable(comparison.second_name), true},
                   {"difference", true},
                   {"verdict"}};
  for (const Change& change : changes) {
    const MetricInfo info = metric_info(change.metric->metric);
    table.rows.push_back({{phrase_of(change.group->values)},
                          {printable(info.label)},
                          {side_text(change.metric->first, info.kind, compact)},
                          {side_text(change.metric->second, info.kind, compact)},
                          {change_text(*change.metric, info.kind)},
                          {verdict_text(change.metric->verdict), tone_of(change.metric->verdict)}});
  }
  return table;
}

std::string fitted(const Comparison& comparison, const std::vector<Change>& changes, int width,
                   const Painter& paint) {
  const TextTable full = table_of(comparison, changes, false);
  const TextTable compact = table_of(comparison, changes, true);
  for (const TextTable* table : {&full, &compact})
    for (const bool wrap : {false, true})
      if (auto text = fitted_table(*table, width, {2, wrap}, paint)) return std::move(*text);
  return table_blocks(full, width, paint);
}

std::map<Verdict, std::int64_t> count_verdicts(const Comparison& comparison) {
  std::map<Verdict, std::int64_t> counts;
  for (const ComparedExperiment& experiment : comparison.experiments)
    for (const ComparedGroup& group : experiment.groups)
      for (const ComparedMetric& metric : group.metrics) ++counts[metric.verdict];
  return counts;
}

// "Of 24 comparisons: 3 leaks more, ..." Leak comes first whether there is any or not.
std::string summary_line(const Comparison& comparison) {
  auto counts = count_verdicts(comparison);
  std::int64_t all = 0;
  for (const auto& [verdict, count] : counts) all += count;
  if (all == 0) return "Nothing to compare: no group has numbers on both sides.";
  std::vector<std::string> parts = {fmt::format("{} leak more", counts[Verdict::leaks_more]),
                                    fmt::format("{} leak less", counts[Verdict::leaks_less])};
  const std::pair<Verdict, const char*> rest[] = {
      {Verdict::worse, "worse"},
      {Verdict::better, "better"},
      {Verdict::larger, "larger"},
      {Verdict::smaller, "smaller"},
      {Verdict::same, "the same"},
      {Verdict::no_difference, "without a difference beyond the spread"},
      {Verdict::unknown_spread, "of one repetition, without a known spread"},
      {Verdict::not_a_number, "not a number"}};
  for (const auto& [verdict, text] : rest)
    if (counts[verdict] > 0) parts.push_back(fmt::format("{} {}", counts[verdict], text));
  return fmt::format("{} {}: {}.", all, all == 1 ? "comparison" : "comparisons", fmt::join(parts, ", "));
}

// At 95 % one of twenty stands out where there is nothing; a reader of many lines must know.
std::string chance_note(const Comparison& comparison) {
  std::int64_t judged = 0;
  for (const ComparedExperiment& experiment : comparison.experiments)
    for (const ComparedGroup& group : experiment.groups)
      for (const ComparedMetric& metric : group.metrics)
        judged += metric.error && metric.verdict != Verdict::same;
  if (judged < 20) return "";
  return fmt::format(
      "Each is judged by itself at 95 %: of {}, about {} would stand out by chance if nothing had changed.",
      judged, (judged + 10) / 20);
}

void append_one_sided(std::string& out, const Comparison& comparison, int width, const Painter& paint) {
  const auto line = [&](const std::string& side, const std::string& what) {
    out += paragraph(printable(fmt::format("only in {}: {}", side, what)), width, Tone::plain, paint);
  };
  const auto list = [&](const std::string& side, const std::vector<std::string>& experiments, auto groups,
                        auto metrics) {
    for (const std::string& name : experiments) line(side, "experiment " + name);
    for (const ComparedExperiment& experiment : comparison.experiments) {
      for (const NamedValues& values : experiment.*groups)
        line(side, experiment.name + ", " + phrase_of(values));
      for (const ComparedGroup& group : experiment.groups)
        for (const std::string& metric : group.*metrics)
          line(side, fmt::format("{}, {}: {}", experiment.name, phrase_of(group.values),
                                 metric_info(metric).label));
    }
  };
  list(comparison.first_name, comparison.only_in_first, &ComparedExperiment::only_in_first,
       &ComparedGroup::only_in_first);
  list(comparison.second_name, comparison.only_in_second, &ComparedExperiment::only_in_second,
       &ComparedGroup::only_in_second);
}

void append_failures(std::string& out, const Comparison& comparison, int width, const Painter& paint) {
  for (const ComparedFailure& failure : comparison.failures)
    out += paragraph(
        printable(fmt::format("failed in {}: {}, {}, seed {}: {}",
                              failure.in_first ? comparison.first_name : comparison.second_name,
                              failure.experiment, phrase_of(failure.values), failure.seed, failure.error)),
        width, Tone::leak, paint);
}

ordered_json values_json(const NamedValues& values) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}

ordered_json summary_json(const Summary& summary) {
  return {{"n", summary.n},
          {"mean", json_number(summary.mean)},
          {"deviation",
           summary.deviation ? ordered_json(json_number(*summary.deviation)) : ordered_json(nullptr)},
          {"min", json_number(summary.min)},
          {"max", json_number(summary.max)}};
}

ordered_json counts_json(const CellCounts& counts) {
  return {{"done", counts.done}, {"failed", counts.failed}, {"pending", counts.pending}};
}

ordered_json group_json(const ComparedGroup& group) {
  ordered_json metrics = ordered_json::array();
  for (const ComparedMetric& metric : group.metrics)
    metrics.push_back(
        {{"metric", metric.metric},
         {"first", summary_json(metric.first)},
         {"second", summary_json(metric.second)},
         {"difference", json_number(metric.difference)},
         {"error", metric.error ? ordered_json(json_number(*metric.error)) : ordered_json(nullptr)},
         {"pairs", metric.pairs},
         {"verdict", verdict_text(metric.verdict)}});
  return {{"values", values_json(group.values)},  {"first", counts_json(group.first)},
          {"second", counts_json(group.second)},  {"metrics", std::move(metrics)},
          {"only_in_first", group.only_in_first}, {"only_in_second", group.only_in_second}};
}

ordered_json experiment_json(const ComparedExperiment& experiment) {
  ordered_json groups = ordered_json::array(), first = groups, second = groups;
  for (const ComparedGroup& group : experiment.groups) groups.push_back(group_json(group));
  for (const NamedValues& values : experiment.only_in_first) first.push_back(values_json(values));
  for (const NamedValues& values : experiment.only_in_second) second.push_back(values_json(values));
  return {{"name", experiment.name},
          {"title", experiment.title},
          {"groups", std::move(groups)},
          {"only_in_first", std::move(first)},
          {"only_in_second", std::move(second)}};
}

}  // namespace

std::string comparison_table(const Comparison& comparison, bool colour, int width) {
  const Painter paint(colour);
  std::string out;
  const auto all = changes_of(comparison);
  for (const Changes& changes : all) {
    out += paragraph(printable(changes.experiment->name), width, Tone::bold, paint);
    out += fitted(comparison, changes.list, width, paint) + "\n";
  }
  if (!all.empty()) {
    out += paragraph("mean ± standard deviation (repetitions); difference ± its standard error.", width,
                     Tone::faint, paint);
    if (const std::string note = chance_note(comparison); !note.empty())
      out += paragraph(note, width, Tone::faint, paint);
    out += "\n";
  }
  const std::size_t before = out.size();
  append_one_sided(out, comparison, width, paint);
  append_failures(out, comparison, width, paint);
  if (out.size() > before) out += "\n";
  return out + paragraph(summary_line(comparison), width, Tone::bold, paint);
}

ordered_json comparison_json(const Comparison& comparison) {
  ordered_json experiments = ordered_json::array(), failures = experiments, verdicts = ordered_json::object();
  for (const ComparedExperiment& experiment : comparison.experiments)
    experiments.push_back(experiment_json(experiment));
  for (const ComparedFailure& failure : comparison.failures)
    failures.push_back({{"side", failure.in_first ? "first" : "second"},
                        {"experiment", failure.experiment},
                        {"values", values_json(failure.values)},
                        {"texts", failure.texts},
                        {"seed", failure.seed},
                        {"error", failure.error}});
  for (const auto& [verdict, count] : count_verdicts(comparison)) verdicts[verdict_text(verdict)] = count;
  return {{"first", comparison.first_name},
          {"second", comparison.second_name},
          {"verdicts", std::move(verdicts)},
          {"experiments", std::move(experiments)},
          {"only_in_first", comparison.only_in_first},
          {"only_in_second", comparison.only_in_second},
          {"failures", std::move(failures)}};
}

}  // namespace undertext
