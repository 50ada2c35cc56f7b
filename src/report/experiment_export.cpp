#include "report/experiment_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/aggregate.h"
#include "report/metric_info.h"
#include "report/value_labels.h"

namespace undertext {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

// Tabs and returns are skipped by spreadsheets, so they may hide a sign behind them.
std::string csv_text(const std::string& text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  return quoted(formula ? "'" + text : text);
}

std::string csv_value(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_text(value.get<std::string>());
  return quoted(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

// The columns that depend on what the experiments hold.
struct Columns {
  std::vector<std::string> values;  // axes, then shared settings
  std::vector<std::string> metrics;
};

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Columns columns_of(const std::vector<ReportedExperiment>& experiments) {
  Columns columns;
  for (const ReportedExperiment& experiment : experiments)
    for (const std::string& axis : experiment.axes) add_once(columns.values, axis);
  for (const ReportedExperiment& experiment : experiments) {
    for (const auto& [name, value] : experiment.settings) add_once(columns.values, name);
    for (const std::string& metric : metrics_of(experiment)) add_once(columns.metrics, metric);
  }
  columns.metrics = in_metric_order(std::move(columns.metrics));
  std::erase_if(columns.metrics,
                [](const std::string& name) { return name == "seconds" || name == "peak_memory"; });
  return columns;
}

std::vector<std::string> header_of(const Columns& columns) {
  std::vector<std::string> header = {"experiment", "key", "state", "error", "seed", "texts"};
  const std::vector<std::string> last = {"seconds", "peak_memory", "version", "host"};
  std::set<std::string> taken(header.begin(), header.end());
  taken.insert(last.begin(), last.end());
  taken.insert(columns.metrics.begin(), columns.metrics.end());
  std::vector<std::string> values;
  for (const std::string& name : columns.values)
    values.push_back(taken.contains(name) ? "value." + name : name);  // each heading once
  header.insert(header.begin() + 4, values.begin(), values.end());
  header.insert(header.end(), columns.metrics.begin(), columns.metrics.end());
  header.insert(header.end(), last.begin(), last.end());
  return header;
}

json value_of(const ReportedExperiment& experiment, const ReportedCell& cell, const std::string& name) {
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis)
    if (experiment.axes[axis] == name) return cell_value(cell, axis);
  for (const auto& [setting, value] : experiment.settings)
    if (setting == name) return value;
  return nullptr;
}

std::string metric_field(const ReportedCell& cell, const std::string& name) {
  if (cell.state != CellState::done) return "";
  for (const auto& [metric, value] : cell.metrics)
    if (metric == name) return fmt::format("{}", value);
  return "";
}

void append_line(std::string& out, const std::vector<std::string>& fields) {
  out += fmt::format("{}\n", fmt::join(fields, ","));
}

std::vector<std::string> row_of(const ReportedExperiment& experiment, const ReportedCell& cell,
                                const Columns& columns) {
  std::vector<std::string> row = {csv_text(experiment.name), csv_text(cell.key), state_name(cell.state),
                                  csv_text(cell.error)};
  for (const std::string& name : columns.values) row.push_back(csv_value(value_of(experiment, cell, name)));
  row.push_back(std::to_string(cell.seed));
  row.push_back(csv_text(cell.texts));
  for (const std::string& metric : columns.metrics) row.push_back(metric_field(cell, metric));
  const bool ran = cell.state != CellState::pending;
  row.push_back(ran ? fmt::format("{}", cell.seconds) : "");
  row.push_back(ran ? std::to_string(cell.peak_memory) : "");
  row.push_back(csv_text(cell.version));
  row.push_back(csv_text(cell.host));
  return row;
}

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json object_of(const ReportedExperiment& experiment, const ReportedCell& cell) {
  const bool ran = cell.state != CellState::pending;
  ordered_json values = ordered_json::object(), settings = values, metrics = values;
  ordered_json pairs = ordered_json::array(), words = pairs;
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis)
    values[experiment.axes[axis]] = cell_value(cell, axis);
  for (const auto& [name, value] : experiment.settings) settings[name] = value;
  if (cell.state == CellState::done)
    for (const auto& [name, value] : cell.metrics) metrics[name] = json_number(value);
  for (const MessagePair& pair : cell.pairs)
    pairs.push_back({{"truth", or_null(pair.truth)},
                     {"recovered", or_null(pair.recovered)},
                     {"exact", pair.exact},
                     {"ratio", pair.ratio ? json_number(*pair.ratio) : json(nullptr)}});
  for (const ReportedWord& word : cell.words)
    words.push_back(
        {{"word", word.word}, {"id", word.id}, {"score", json_number(word.score)}, {"typed", word.typed}});
  const auto if_ran = [&](ordered_json value) { return ran ? std::move(value) : ordered_json(nullptr); };
  return {{"experiment", experiment.name},
          {"key", cell.key},
          {"state", state_name(cell.state)},
          {"error", cell.state == CellState::failed ? ordered_json(cell.error) : ordered_json(nullptr)},
          {"values", std::move(values)},
          {"settings", std::move(settings)},
          {"seed", cell.seed},
          {"texts", cell.texts},
          {"metrics", std::move(metrics)},
          {"pairs", std::move(pairs)},
          {"all_pairs", cell.all_pairs},
          {"words", std::move(words)},
          {"seconds", if_ran(json_number(cell.seconds))},
          {"peak_memory", if_ran(cell.peak_memory)},
          {"version", if_ran(cell.version)},
          {"host", if_ran(cell.host)}};
}

}  // namespace

std::string experiment_csv(const std::vector<ReportedExperiment>& experiments) {
  const Columns columns = columns_of(experiments);
  std::vector<std::string> header;
  for (const std::string& name : header_of(columns)) header.push_back(csv_text(name));
  std::string out;
  append_line(out, header);
  for (const ReportedExperiment& experiment : experiments)
    for (const ReportedCell& cell : experiment.cells) append_line(out, row_of(experiment, cell, columns));
  return out;
}

std::string experiment_json_lines(const std::vector<ReportedExperiment>& experiments) {
  std::string out;
  for (const ReportedExperiment& experiment : experiments)
    for (const ReportedCell& cell : experiment.cells)
      out += object_of(experiment, cell).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  return out;
}

std::string state_name(CellState state) {
  return state == CellState::done ? "done" : state == CellState::failed ? "failed" : "pending";
}

json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

}  // namespace undertext
