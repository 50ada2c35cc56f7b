// Runs what is left of experiments: hands cells to workers and records what comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "audit/run/workers.h"
#include "audit/store/result_store.h"

namespace undertext {

struct RunOptions {
  bool retry = false;                                    // run failed cells again
  std::int64_t limit = 0;                                // cells at most; 0: all
  std::function<bool()> stopped = [] { return false; };  // asked often; true ends the run at once
};

struct RunSummary {
  std::int64_t cells = 0;      // of the experiments
  std::int64_t before = 0;     // done before this run
  std::int64_t skipped = 0;    // failed before, and not retried
  std::int64_t ran = 0;        // in this run, failed ones among them
  std::int64_t failed = 0;     // in this run
  std::int64_t elsewhere = 0;  // another process has or had them
  bool stopped = false;
  std::int64_t left() const { return cells - before - skipped - ran - elsewhere; }
};

// The calling thread is the only one that touches the store.
RunSummary run_cells(ResultStore& store, const std::vector<FrozenCell>& cells, Workers& workers,
                     const RunOptions& options);

}  // namespace undertext
