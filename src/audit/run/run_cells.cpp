#include "audit/run/run_cells.h"

#include <fmt/format.h>

#include <chrono>

#include "audit/experiment/freeze.h"
#include "audit/run/cell_queue.h"
#include "base/progress.h"

namespace undertext {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(100);  // between two looks at `stopped`

std::vector<PendingCell> pending_cells(const ResultStore& store, const std::vector<FrozenCell>& cells,
                                       bool retry, RunSummary& summary) {
  const std::vector<ResultStore::Standing> standings = store.standings(keys_of(cells));
  std::vector<PendingCell> pending;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const ResultStore::Standing& standing = standings[i];
    if (standing.attempts > 0 && !standing.failed)
      ++summary.before;
    else if (standing.failed && !retry)
      ++summary.skipped;
    else
      pending.push_back({&cells[i], standing.attempts, cost_of(cells[i].config)});
  }
  return pending;
}

class Run {
 public:
  Run(ResultStore& store, Workers& workers, const RunOptions& options,
      const std::vector<PendingCell>& pending, RunSummary& summary)
      : store_(store),
        workers_(workers),
        options_(options),
        summary_(summary),
        queue_(pending),
        places_(static_cast<std::size_t>(workers.places())),
        progress_("running", total(pending, options), "cells", Progress::Elsewhere::log,
                  work(pending, options)) {}

  void operator()() {
    for (int place = 0; place < workers_.places(); ++place) hand_out(place);
    while (under_way_ > 0) {
      if (options_.stopped()) {
        summary_.stopped = true;
        return;
      }
      const std::optional<FinishedCell> finished = workers_.wait(kPatience);
      if (!finished) continue;
      note(*finished);
      hand_out(finished->place);  // first, so that the place does not wait for the disk
      store_.record(finished->outcome);
    }
  }

 private:
  struct Place {
    std::string update;  // what it ran last
    double cost = 0;
  };

  static std::int64_t total(const std::vector<PendingCell>& pending, const RunOptions& options) {
    const auto all = static_cast<std::int64_t>(pending.size());
    return options.limit > 0 ? std::min(options.limit, all) : all;
  }

  static double work(const std::vector<PendingCell>& pending, const RunOptions& options) {
    if (options.limit > 0) return 0;  // which cells these will be is not known
    double sum = 0;
    for (const PendingCell& cell : pending) sum += cell.cost;
    return sum;
  }

  void hand_out(int place) {
    Place& here = places_[static_cast<std::size_t>(place)];
    while (options_.limit == 0 || handed_out_ < options_.limit) {
      const std::optional<PendingCell> next = queue_.next(here.update);
      if (!next) return;
      if (!store_.claim(next->cell->key, next->attempts)) {
        ++summary_.elsewhere;
        progress_.advance(1, failures(), next->cost);
        continue;
      }
      here = {update_key(next->cell->config), next->cost};
      ++handed_out_;
      ++under_way_;
      workers_.start(place, *next->cell);
      return;
    }
  }

  void note(const FinishedCell& finished) {
    --under_way_;
    ++summary_.ran;
    summary_.failed += finished.outcome.failed ? 1 : 0;
    progress_.advance(1, failures(), places_[static_cast<std::size_t>(finished.place)].cost);
  }

  std::string failures() const {
    return summary_.failed == 0 ? "" : fmt::format("{} failed", summary_.failed);
  }

  ResultStore& store_;
  Workers& workers_;
  const RunOptions& options_;
  RunSummary& summary_;
  CellQueue queue_;
  std::vector<Place> places_;
  std::int64_t handed_out_ = 0, under_way_ = 0;
  Progress progress_;
};

}  // namespace

RunSummary run_cells(ResultStore& store, const std::vector<FrozenCell>& cells, Workers& workers,
                     const RunOptions& options) {
  RunSummary summary;
  summary.cells = static_cast<std::int64_t>(cells.size());
  const std::vector<PendingCell> pending = pending_cells(store, cells, options.retry, summary);
  if (!pending.empty()) Run(store, workers, options, pending, summary)();
  return summary;
}

}  // namespace undertext
