// Experiments and outcomes to store, and what a store says when it refuses.
#pragma once

#include <string>

#include "audit/store/result_store.h"
#include "base/error.h"

namespace undertext {

inline std::string key_of(std::int64_t i) {
  return fmt::format("{:064x}", 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(i + 1));
}

inline FrozenExperiment experiment_of(std::int64_t cells, const std::string& name = "figure-3") {
  FrozenExperiment experiment{.name = name, .facts = {{"title", "Words from " + name}}, .cells = {}};
  for (std::int64_t i = 0; i < cells; ++i)
    experiment.cells.push_back(
        {key_of(i), {{"model", "keyboard"}, {"messages", i}, {"noise", 0.1 * static_cast<double>(i)}}});
  return experiment;
}

inline CellOutcome outcome_of(std::int64_t i) {
  CellOutcome outcome;
  outcome.key = key_of(i);
  outcome.result = {{"f1", 1.0 / static_cast<double>(i + 3)}, {"words", {"see", "you", "at", "h\u00f6me"}}};
  outcome.seconds = 0.1 * static_cast<double>(i);
  outcome.peak_memory = 1000 + i;
  outcome.version = "0.1.0";
  outcome.host = "somewhere";
  return outcome;
}

inline void record_cells(ResultStore& store, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; ++i)
    if (store.claim(key_of(i), 0)) store.record(outcome_of(i));
}

inline bool same(const CellOutcome& a, const CellOutcome& b) {
  return a.key == b.key && a.failed == b.failed && a.error == b.error && a.result == b.result &&
         a.seconds == b.seconds && a.peak_memory == b.peak_memory && a.version == b.version &&
         a.host == b.host;
}

// How many of the first cells have an outcome; -1 when those are not exactly the first ones, or when anything
// is not as experiment_of and outcome_of made it.
inline std::int64_t recorded_prefix(const ResultStore& store, std::int64_t size) {
  const FrozenExperiment experiment = experiment_of(size);
  const std::vector<StoredCell> cells = store.cells(experiment.name);
  if (cells.size() != experiment.cells.size() || store.facts(experiment.name) != experiment.facts) return -1;
  std::int64_t recorded = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const StoredCell& cell = cells[static_cast<std::size_t>(i)];
    const FrozenCell& frozen = experiment.cells[static_cast<std::size_t>(i)];
    if (cell.frozen.key != frozen.key || cell.frozen.config != frozen.config) return -1;
    if (cell.attempts == 0) continue;
    if (recorded != i || cell.attempts != 1 || !same(cell.outcome, outcome_of(i))) return -1;
    ++recorded;
  }
  return recorded;
}

template <typename Work>
std::string complaint_of(const Work& work) {
  try {
    work();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

inline std::string complaint_of_opening(const std::filesystem::path& folder, ResultStore::Access access) {
  return complaint_of([&] { ResultStore(folder, access); });
}

}  // namespace undertext
