// Where cells run. The one who hands them out and records what comes back needs to know no more than this.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "audit/experiment/sources.h"
#include "audit/store/result_store.h"

namespace undertext {

struct FinishedCell {
  int place;
  CellOutcome outcome;
};

class Workers {
 public:
  virtual ~Workers() = default;
  virtual int places() const = 0;  // cells that can run at a time
  // The place must be free: nothing was started there, or what was has been waited for.
  virtual void start(int place, const FrozenCell& cell) = 0;
  // The next cell that is done; nothing when none is within this time.
  virtual std::optional<FinishedCell> wait(std::chrono::microseconds most) = 0;
};

// Threads of this process, each with its share of the cores. The destructor waits for cells under way.
std::unique_ptr<Workers> thread_workers(int jobs, int threads_each, Sources& sources);

}  // namespace undertext
