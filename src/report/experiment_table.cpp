#include "report/experiment_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/aggregate.h"
#include "report/metric_info.h"
#include "report/text_table.h"
#include "report/text_width.h"
#include "report/value_labels.h"

namespace undertext {
namespace {

// "0.951 ± 0.012". The number of values is told where it is not that of the group.
std::string summary_text(const Summary& summary, const std::string& metric, std::int64_t done) {
  const MetricKind kind = metric_info(metric).kind;
  std::string text = metric_text(kind, summary.mean);
  if (summary.deviation) text += " ± " + spread_text(kind, *summary.deviation);
  if (summary.n != done) text += fmt::format(" (n={})", summary.n);
  return text;
}

// "3", "2, 1 failed".
std::string repetitions_text(const CellGroup& group) {
  std::string text = std::to_string(group.done);
  if (group.failed > 0) text += fmt::format(", {} failed", group.failed);
  if (group.pending > 0) text += fmt::format(", {} pending", group.pending);
  return text;
}

// A leak as alarming as it is; the number itself says the same without colour.
Tone tone_of(const std::string& metric, double value) {
  const MetricInfo info = metric_info(metric);
  if (info.larger != LargerMeans::more_leak || info.kind != MetricKind::fraction) return Tone::plain;
  return value >= 0.5 ? Tone::leak : value > 0.05 ? Tone::some_leak : Tone::safe;
}

bool numeric(const std::vector<CellGroup>& groups, std::size_t axis) {
  return std::ranges::all_of(groups, [&](const CellGroup& group) { return group.values[axis].is_number(); });
}

TextTable layout_of(const ReportedExperiment& experiment, const std::vector<CellGroup>& groups,
                    const std::vector<std::string>& metrics) {
  TextTable table;
  const auto labels = value_labels(experiment.axes);
  for (std::size_t axis = 0; axis < labels.size(); ++axis)
    table.columns.push_back({printable(labels[axis]), numeric(groups, axis)});
  table.columns.push_back({"n"});
  for (const std::string& metric : metrics)
    table.columns.push_back({printable(metric_info(metric).label), true});
  for (const CellGroup& group : groups) {
    std::vector<TextCell> cells;
    for (const auto& value : group.values) cells.push_back({printable(value_text(value))});
    cells.push_back({repetitions_text(group), group.failed > 0    ? Tone::leak
                                              : group.pending > 0 ? Tone::some_leak
                                                                  : Tone::plain});
    for (const std::string& metric : metrics) {
      const Summary* summary = group.find(metric);
      cells.push_back(summary == nullptr ? TextCell{"–", Tone::faint}
                                         : TextCell{summary_text(*summary, metric, group.done),
                                                    tone_of(metric, summary->mean)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// The metrics from the one least worth its place: not plotted before plotted, later before earlier.
std::vector<std::string> by_worth(const ReportedExperiment& experiment, std::vector<std::string> metrics) {
  std::set<std::string> plotted;
  for (const ReportedPlot& plot : experiment.plots) plotted.insert({plot.x, plot.y});
  std::ranges::reverse(metrics);
  std::stable_partition(metrics.begin(), metrics.end(),
                        [&](const std::string& metric) { return !plotted.contains(metric); });
  return metrics;
}

std::string labels_text(const std::vector<std::string>& metrics) {
  std::vector<std::string> labels;
  labels.reserve(metrics.size());
  for (const std::string& metric : metrics) labels.push_back(printable(metric_info(metric).label));
  return fmt::format("{}", fmt::join(labels, ", "));
}

// As many metrics as fit; one at least stays before the rows become blocks.
std::string fitted(const ReportedExperiment& experiment, const std::vector<CellGroup>& groups, int width,
                   const Painter& paint) {
  std::vector<std::string> metrics = metrics_of(experiment);
  std::vector<std::string> left_out;
  for (const std::string& next : by_worth(experiment, metrics)) {
    const TextTable table = layout_of(experiment, groups, metrics);
    for (const TableFit fit : {TableFit{2, false}, TableFit{2, true}}) {
      if (auto text = fitted_table(table, width, fit, paint)) {
        if (!left_out.empty())
          *text += "\n" + paragraph(fmt::format("No room for: {}.", labels_text(in_metric_order(left_out))),
                                    width, Tone::faint, paint);
        return std::move(*text);
      }
    }
    if (metrics.size() == 1) break;
    std::erase(metrics, next);
    left_out.push_back(next);
  }
  const TextTable whole = layout_of(experiment, groups, metrics_of(experiment));
  if (auto text = fitted_table(whole, width, {2, true}, paint)) return std::move(*text);
  return table_blocks(whole, width, paint);
}

std::string heading_of(const ReportedExperiment& experiment) {
  return printable(experiment.title.empty() ? experiment.name : experiment.title);
}

// The values of a cell in one phrase: "epochs 10, defence none, seed 3".
std::string cell_phrase(const ReportedExperiment& experiment, const ReportedCell& cell) {
  std::string phrase;
  const auto labels = value_labels(experiment.axes);
  for (std::size_t axis = 0; axis < labels.size(); ++axis)
    phrase += fmt::format("{} {}, ", labels[axis], value_text(cell_value(cell, axis)));
  if (!cell.texts.empty()) phrase += cell.texts + ", ";
  return printable(fmt::format("{}seed {}", phrase, cell.seed));
}

// Each failure with its error, as "cell: error". Beyond the first, only their number: the export has them
// all.
std::vector<std::string> failures_of(const ReportedExperiment& experiment) {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> failures;
  for (const ReportedCell& cell : experiment.cells) {
    if (cell.state != CellState::failed) continue;
    failures.push_back(cell_phrase(experiment, cell) + ": " +
                       printable(cell.error.empty() ? "no reason was recorded" : cell.error));
  }
  if (failures.size() > kMost) {
    const std::string rest = fmt::format("and {} more", failures.size() - kMost);
    failures.resize(kMost);
    failures.push_back(rest);
  }
  return failures;
}

// A text inside a Markdown table or list: nothing in it may act as markup.
std::string markdown_text(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else if (std::string_view("\\`*_[]|~#>").find(c) != std::string_view::npos)
      safe += std::string("\\") + c;
    else
      safe += c;
  }
  return safe;
}

void append_markdown_table(std::string& out, const TextTable& table) {
  out += "|";
  for (const TextColumn& column : table.columns) out += " " + markdown_text(column.title) + " |";
  out += "\n|";
  for (const TextColumn& column : table.columns) out += column.number ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const TextCell& cell : row) out += " " + markdown_text(cell.text) + " |";
    out += "\n";
  }
}

std::string one_markdown(const ReportedExperiment& experiment) {
  std::string out = "## " + markdown_text(heading_of(experiment)) + "\n\n";
  if (!experiment.source.empty()) out += markdown_text(experiment.source) + "\n\n";
  if (!experiment.says.empty()) out += "> " + markdown_text(experiment.says) + "\n\n";
  out += counts_text(counts_of(experiment)) + "; mean ± sample standard deviation, n cells.\n\n";
  append_markdown_table(out, layout_of(experiment, groups_of(experiment), metrics_of(experiment)));
  const auto failures = failures_of(experiment);
  if (!failures.empty()) out += "\nFailed:\n\n";
  for (const std::string& failure : failures) out += "- " + markdown_text(failure) + "\n";
  return out;
}

}  // namespace

std::string experiment_table(const std::vector<ReportedExperiment>& experiments, bool colour, int width) {
  const Painter paint(colour);
  std::string out;
  for (const ReportedExperiment& experiment : experiments) {
    if (!out.empty()) out += "\n";
    out += paragraph(heading_of(experiment), width, Tone::bold, paint);
    if (!experiment.source.empty()) out += paragraph(printable(experiment.source), width, Tone::faint, paint);
    const CellCounts counts = counts_of(experiment);
    out += paragraph(counts_text(counts), width, counts.failed > 0 ? Tone::leak : Tone::plain, paint) + "\n";
    if (counts.all() > 0) out += fitted(experiment, groups_of(experiment), width, paint);
    const auto failures = failures_of(experiment);
    if (!failures.empty()) out += "\n";
    for (const std::string& failure : failures)
      out += paragraph("failed: " + failure, width, Tone::leak, paint);
  }
  return out;
}

std::string experiment_markdown(const std::vector<ReportedExperiment>& experiments) {
  std::string out;
  for (const ReportedExperiment& experiment : experiments)
    out += (out.empty() ? "" : "\n") + one_markdown(experiment);
  return out;
}

}  // namespace undertext
