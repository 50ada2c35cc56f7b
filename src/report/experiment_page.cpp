#include "report/experiment_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>

#include "report/aggregate.h"
#include "report/assets.h"
#include "report/experiment_export.h"
#include "report/metric_info.h"
#include "report/value_labels.h"

namespace undertext {
namespace {

using nlohmann::json;

// How much of everything the page holds.
struct Limits {
  std::size_t pairs = 0;  // of each sampled cell
  std::size_t words = 0;  // of each sampled cell
  std::size_t every = 1;  // of so many cells one is sampled
  std::size_t text = kLongestText;
  std::size_t cells = 0;  // of each experiment
  std::size_t experiments = 0;
};

// Below these, samples of fewer cells tell more than shorter ones of each.
constexpr std::size_t kFewestPairs = 4, kFewestWords = 16;
constexpr std::size_t kShortText = 200;

Limits no_limits(const std::vector<ReportedExperiment>& experiments) {
  Limits limits;
  limits.experiments = experiments.size();
  for (const ReportedExperiment& experiment : experiments) {
    limits.cells = std::max(limits.cells, experiment.cells.size());
    for (const ReportedCell& cell : experiment.cells) {
      limits.pairs = std::max(limits.pairs, cell.pairs.size());
      limits.words = std::max(limits.words, cell.words.size());
    }
  }
  return limits;
}

// The next tighter limits; false when nothing is left to cut.
bool tighten(Limits& limits) {
  if (limits.pairs > kFewestPairs) {
    limits.pairs /= 2;
  } else if (limits.words > kFewestWords) {
    limits.words /= 2;
  } else if (limits.pairs + limits.words > 0) {
    limits.every *= 2;
    if (limits.every > limits.cells) limits.pairs = limits.words = 0;
  } else if (limits.text > kShortText) {
    limits.text = kShortText;
  } else if (limits.cells > 0) {
    limits.cells /= 2;
  } else if (limits.experiments > 0) {
    limits.experiments /= 2;
  } else {
    return false;
  }
  return true;
}

// Five digits are more than a chart shows. What is not all does not become all by them.
json compact(double value) {
  if (!std::isfinite(value)) return json_number(value);
  const double rounded = std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
  for (const double top : {1.0, 100.0})
    if (rounded == top && value < top) return top * 0.99999;
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e15) return static_cast<std::int64_t>(rounded);
  return rounded;
}

// Words are shown with ten decimals.
json ten_decimals(double value) {
  return std::isfinite(value) ? json(std::round(value * 1e10) / 1e10) : json_number(value);
}

// Numbers, texts and truth values as they are; anything else as its text. Texts are cut.
json page_value(const json& value, const Limits& limits) {
  if (value.is_number_float()) return json_number(value.get<double>());
  if (value.is_number() || value.is_boolean() || value.is_null()) return value;
  return shortened(value_text(value), limits.text);
}

// A column of values as indices into the list of distinct ones.
class Coded {
 public:
  void add(const std::string& key, const json& value) {
    const auto [found, fresh] = places_.try_emplace(key, list_.size());
    if (fresh) list_.push_back(value);
    indices_.push_back(found->second);
  }
  json take() { return {{"list", std::move(list_)}, {"index", std::move(indices_)}}; }

 private:
  std::map<std::string, std::size_t> places_;
  json list_ = json::array(), indices_ = json::array();
};

using Cells = std::vector<const ReportedCell*>;

Cells held_cells(const ReportedExperiment& experiment, const Limits& limits) {
  Cells cells;
  for (std::size_t i = 0; i < std::min(limits.cells, experiment.cells.size()); ++i)
    cells.push_back(&experiment.cells[i]);
  return cells;
}

// Column by column, which is several times smaller than an object for each cell.
json columns_of(const ReportedExperiment& experiment, const Cells& cells, const Limits& limits) {
  json values = json::array(), metrics = json::object();
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
    Coded column;
    for (const ReportedCell* cell : cells) {
      const json& value = cell_value(*cell, axis);
      column.add(value_key(value), page_value(value, limits));
    }
    values.push_back(column.take());
  }
  std::string states;
  Coded seeds, texts;
  for (const std::string& metric : metrics_of(experiment)) metrics[metric] = json::array();
  for (const ReportedCell* cell : cells) {
    states += state_name(cell->state)[0];
    seeds.add(std::to_string(cell->seed), std::to_string(cell->seed));  // as text: a browser's end at 2^53
    texts.add(cell->texts, shortened(cell->texts, limits.text));
    for (auto& [name, column] : metrics.items()) column.push_back(nullptr);
    for (const auto& [name, value] : all_metrics(*cell)) metrics[name].back() = compact(value);
  }
  return {{"states", states},
          {"values", std::move(values)},
          {"seeds", seeds.take()},
          {"texts", texts.take()},
          {"metrics", std::move(metrics)}};
}

json samples_of(const Cells& cells, const Limits& limits, SharedTexts& texts) {
  json samples = json::array();
  for (std::size_t i = 0; i < cells.size(); i += limits.every) {
    const ReportedCell& cell = *cells[i];
    json pairs = json::array();
    for (std::size_t p = 0; p < std::min(limits.pairs, cell.pairs.size()); ++p) {
      const MessagePair& pair = cell.pairs[p];
      pairs.push_back({texts.index(pair.truth), texts.index(pair.recovered), pair.exact ? 1 : 0,
                       pair.ratio ? compact(*pair.ratio) : json(nullptr)});
    }
    const auto all = std::max(cell.all_pairs, static_cast<std::int64_t>(cell.pairs.size()));
    if (!pairs.empty()) samples.push_back({{"cell", i}, {"total", all}, {"pairs", std::move(pairs)}});
  }
  return samples;
}

json words_of(const Cells& cells, const Limits& limits, SharedTexts& texts) {
  json lists = json::array();
  for (std::size_t i = 0; i < cells.size(); i += limits.every) {
    json words = json::array();
    for (std::size_t w = 0; w < std::min(limits.words, cells[i]->words.size()); ++w) {
      const ReportedWord& word = cells[i]->words[w];
      words.push_back({texts.index(word.word), word.id, ten_decimals(word.score), word.typed ? 1 : 0});
    }
    if (!words.empty())
      lists.push_back({{"cell", i}, {"total", cells[i]->words.size()}, {"words", std::move(words)}});
  }
  return lists;
}

json failures_of(const Cells& cells, const Limits& limits, SharedTexts& texts) {
  json failures = json::array();
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i]->state == CellState::failed)
      failures.push_back({{"cell", i},
                          {"error", texts.index(cells[i]->error)},
                          {"key", shortened(cells[i]->key, limits.text)}});
  return failures;
}

json plots_of(const ReportedExperiment& experiment, const Limits& limits) {
  json plots = json::array();
  for (const ReportedPlot& plot : experiment.plots) {
    json shown = plot;
    shown["title"] = shortened(plot.title, limits.text);
    for (json& pair : shown["where"]) pair[1] = page_value(pair[1], limits);
    plots.push_back(std::move(shown));
  }
  return plots;
}

// Axes, settings and everything that a plot names, by label.
json labels_of(const ReportedExperiment& experiment) {
  std::vector<std::string> names = experiment.axes;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const ReportedPlot& plot : experiment.plots) {
    for (const std::string& name : {plot.series, plot.facet}) add(name);
    if (plot.kind == "line") add(plot.x);
    for (const auto& [name, value] : plot.where) add(name);
  }
  for (const auto& [name, value] : experiment.settings) add(name);
  const auto texts = value_labels(names);
  json labels = json::object();
  for (std::size_t i = 0; i < names.size(); ++i) labels[names[i]] = texts[i];
  return labels;
}

json counts_json(const CellCounts& counts) {
  return {{"done", counts.done}, {"failed", counts.failed}, {"pending", counts.pending}};
}

json experiment_of(const ReportedExperiment& experiment, const Limits& limits, SharedTexts& texts) {
  const Cells cells = held_cells(experiment, limits);
  const CellCounts counts = counts_of(experiment);
  json settings = json::array();
  for (const auto& [name, value] : experiment.settings) settings.push_back({name, page_value(value, limits)});
  const auto text = [&](const std::string& given) { return shortened(given, limits.text); };
  return {{"name", text(experiment.name)},
          {"title", text(experiment.title.empty() ? experiment.name : experiment.title)},
          {"source", text(experiment.source)},
          {"says", text(experiment.says)},
          {"command", text(experiment.command)},
          {"profile", text(experiment.profile)},
          {"axes", experiment.axes},
          {"labels", labels_of(experiment)},
          {"settings", std::move(settings)},
          {"plots", plots_of(experiment, limits)},
          {"metrics", metrics_of(experiment)},
          {"counts", counts_json(counts)},
          {"cells", columns_of(experiment, cells, limits)},
          {"samples", samples_of(cells, limits, texts)},
          {"words", words_of(cells, limits, texts)},
          {"failures", failures_of(cells, limits, texts)}};
}

json metric_facts(std::span<const ReportedExperiment> experiments) {
  json facts = json::object();
  const auto add = [&](const MetricInfo& info) {
    facts[info.name] = {
        {"label", info.label}, {"kind", kind_name(info.kind)}, {"larger", meaning_name(info.larger)}};
  };
  for (const MetricInfo& info : metric_infos()) add(info);
  for (const ReportedExperiment& experiment : experiments)
    for (const std::string& metric : metrics_of(experiment)) add(metric_info(metric));
  return facts;
}

// The version that ran the cells; several when they differ.
std::string versions_of(const std::vector<ReportedExperiment>& experiments) {
  std::vector<std::string> versions;
  for (const ReportedExperiment& experiment : experiments)
    for (const ReportedCell& cell : experiment.cells)
      if (!cell.version.empty() && std::ranges::find(versions, cell.version) == versions.end() &&
          versions.size() < 10)
        versions.push_back(cell.version);
  return shortened(fmt::format("{}", fmt::join(versions, ", ")), kShortText);
}

std::string data_within(const std::vector<ReportedExperiment>& experiments, const Limits& limits) {
  SharedTexts texts(limits.text);
  json shown = json::array();
  CellCounts counts;
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    const CellCounts own = counts_of(experiments[i]);
    counts.done += own.done;
    counts.failed += own.failed;
    counts.pending += own.pending;
    if (i < limits.experiments) shown.push_back(experiment_of(experiments[i], limits, texts));
  }
  const Limits all = no_limits(experiments);
  return script_safe({{"experiments", std::move(shown)},
                      {"all_experiments", experiments.size()},
                      {"metrics", metric_facts(std::span(experiments).first(limits.experiments))},
                      {"texts", texts.list()},
                      {"counts", counts_json(counts)},
                      {"version", versions_of(experiments)},
                      {"cut",
                       {{"samples", limits.pairs < all.pairs || (limits.every > 1 && all.pairs > 0)},
                        {"words", limits.words < all.words || (limits.every > 1 && all.words > 0)},
                        {"texts", limits.text < all.text},
                        {"cells", limits.cells < all.cells}}}});
}

// The data under the loosest limits that fit. Each step of the ladder is smaller than the one before, so that
// a few tries find it.
std::string page_data(const std::vector<ReportedExperiment>& experiments, std::size_t budget) {
  std::string data = data_within(experiments, no_limits(experiments));
  if (data.size() <= budget) return data;
  std::vector<Limits> ladder;
  for (Limits limits = no_limits(experiments); tighten(limits);) ladder.push_back(limits);
  std::size_t low = 0, high = ladder.size() - 1;  // the last step holds nothing and fits
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (data_within(experiments, ladder[middle]).size() <= budget)
      high = middle;
    else
      low = middle + 1;
  }
  return data_within(experiments, ladder[low]);
}

}  // namespace

std::string experiment_page(const std::vector<ReportedExperiment>& experiments) {
  return framed_page("undertext experiments", assets::experiments_html(), assets::experiments_js(),
                     [&](std::size_t budget) { return page_data(experiments, budget); });
}

}  // namespace undertext
