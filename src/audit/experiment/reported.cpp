#include "audit/experiment/reported.h"

#include <fmt/format.h>

#include "audit/experiment/freeze.h"
#include "base/error.h"
#include "report/metric_info.h"

namespace undertext {
namespace {

using nlohmann::json;

std::optional<std::string> text_or_nothing(const json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<std::string>();
}

MessagePair pair_of(const json& stored) {
  MessagePair pair;
  pair.truth = text_or_nothing(stored.at("truth"));
  pair.recovered = text_or_nothing(stored.at("recovered"));
  pair.exact = stored.at("exact");
  pair.ratio = stored.at("ratio").get<double>();
  return pair;
}

void add_result(const json& result, ReportedCell& cell) {
  const json& metrics = result.at("metrics");
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics.items()) names.push_back(name);
  for (const std::string& name : in_metric_order(names)) cell.metrics.emplace_back(name, metrics.at(name));
  for (const json& pair : result.at("sample")) cell.pairs.push_back(pair_of(pair));
  cell.all_pairs = result.at("pairs");
  for (const json& word : result.at("words"))
    cell.words.push_back({word.at("word"), word.at("id"), word.at("score"), word.at("typed")});
}

std::string texts_name(const json& texts) {
  const std::string file = texts.at("files");
  const std::int64_t client = texts.value("client", 0);  // a federation is attacked as a whole
  return client == 0 ? file : fmt::format("{}, client {}", file, client);
}

ReportedCell cell_of(const StoredCell& stored, const std::vector<std::string>& axes) {
  ReportedCell cell;
  const json& config = stored.frozen.config;
  cell.key = stored.frozen.key;
  for (const std::string& axis : axes) cell.values.push_back(value_of(config, axis));
  cell.seed = config.at("run").at("seed");
  cell.texts = texts_name(config.at("texts"));
  if (stored.attempts == 0) return cell;
  const CellOutcome& outcome = stored.outcome;
  cell.state = outcome.failed ? CellState::failed : CellState::done;
  cell.error = outcome.error;
  cell.seconds = outcome.seconds;
  cell.peak_memory = outcome.peak_memory;
  cell.version = outcome.version;
  cell.host = outcome.host;
  if (!outcome.failed) add_result(outcome.result, cell);
  return cell;
}

}  // namespace

ReportedExperiment reported(const ResultStore& store, const std::string& experiment) {
  const json facts = store.facts(experiment);
  ReportedExperiment shown;
  shown.name = experiment;
  shown.title = facts.at("title");
  shown.source = facts.at("source");
  shown.says = facts.at("says");
  shown.command = facts.at("command");
  shown.profile = facts.at("profile");
  shown.axes = facts.at("axes").get<std::vector<std::string>>();
  for (const json& setting : facts.at("settings")) shown.settings.emplace_back(setting.at(0), setting.at(1));
  facts.at("plots").get_to(shown.plots);
  for (const StoredCell& cell : store.cells(experiment)) shown.cells.push_back(cell_of(cell, shown.axes));
  return shown;
}

std::vector<ReportedExperiment> read_experiments(const std::filesystem::path& folder) {
  const ResultStore store(folder, ResultStore::Access::read);
  std::vector<ReportedExperiment> all;
  try {
    for (const std::string& name : store.experiments()) all.push_back(reported(store, name));
  } catch (const json::exception& error) {
    fail("{}: its content is not what undertext run writes: {}", (folder / ResultStore::kFileName).string(),
         error.what());
  }
  return all;
}

}  // namespace undertext
