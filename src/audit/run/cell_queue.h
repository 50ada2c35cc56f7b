// The order in which cells are handed out: the largest first, and those that attack one update to one place,
// where it is trained once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "audit/store/result_store.h"

namespace undertext {

struct PendingCell {
  const FrozenCell* cell;
  std::int64_t attempts;  // recorded when it was looked at
  double cost;
};

class CellQueue {
 public:
  explicit CellQueue(const std::vector<PendingCell>& cells);

  // A cell for a place that last ran one of `update` (empty: none yet).
  std::optional<PendingCell> next(const std::string& update);

 private:
  struct Group {
    std::vector<PendingCell> cells;  // the next one last
    double cost = 0;                 // of the largest
    bool started = false;
  };
  std::optional<PendingCell> take(Group& group);

  std::vector<Group> groups_;  // largest first
  std::unordered_map<std::string, std::size_t> by_update_;
  std::size_t fresh_ = 0;  // groups before it have been started
};

}  // namespace undertext
