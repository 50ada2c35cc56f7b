#include "audit/run/cell_queue.h"

#include <algorithm>

#include "audit/experiment/freeze.h"

namespace undertext {

CellQueue::CellQueue(const std::vector<PendingCell>& cells) {
  std::vector<std::string> updates;  // of each group
  for (const PendingCell& cell : cells) {
    const std::string update = update_key(cell.cell->config);
    const auto [found, fresh] = by_update_.try_emplace(update, groups_.size());
    if (fresh) {
      groups_.emplace_back();
      updates.push_back(update);
    }
    Group& group = groups_[found->second];
    group.cells.push_back(cell);
    group.cost = std::max(group.cost, cell.cost);
  }
  std::vector<std::size_t> order(groups_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return groups_[i].cost; });
  std::vector<Group> sorted;
  for (const std::size_t i : order) {
    by_update_[updates[i]] = sorted.size();
    sorted.push_back(std::move(groups_[i]));
    std::ranges::reverse(sorted.back().cells);
  }
  groups_ = std::move(sorted);
}

std::optional<PendingCell> CellQueue::take(Group& group) {
  if (group.cells.empty()) return std::nullopt;
  group.started = true;
  const PendingCell cell = group.cells.back();
  group.cells.pop_back();
  return cell;
}

std::optional<PendingCell> CellQueue::next(const std::string& update) {
  if (const auto known = by_update_.find(update); known != by_update_.end())
    if (auto cell = take(groups_[known->second])) return cell;
  while (fresh_ < groups_.size() && groups_[fresh_].started) ++fresh_;
  if (fresh_ < groups_.size()) return take(groups_[fresh_]);
  // Every update has its place: help where most is left.
  const auto fullest =
      std::ranges::max_element(groups_, {}, [](const Group& group) { return group.cells.size(); });
  return fullest == groups_.end() ? std::nullopt : take(*fullest);
}

}  // namespace undertext
