#include "audit/run/cell_queue.h"

#include <gtest/gtest.h>

#include "audit/experiment/freeze.h"
#include "audit/experiment/small_experiment.h"

namespace undertext {
namespace {

std::vector<PendingCell> pending(const FrozenExperiment& experiment) {
  std::vector<PendingCell> cells;
  for (const FrozenCell& cell : experiment.cells) cells.push_back({&cell, 0, cost_of(cell.config)});
  return cells;
}

TEST(CellQueue, BeginsWithTheLargest) {
  const FrozenExperiment experiment = SmallExperiment().frozen("[federation]\nepochs = [3, 100, 1, 20]");
  CellQueue queue(pending(experiment));
  std::vector<std::int64_t> epochs;
  while (const auto next = queue.next("")) epochs.push_back(next->cell->config.at("federation").at("epochs"));
  EXPECT_EQ(epochs, std::vector<std::int64_t>({100, 20, 3, 1}));
}

TEST(CellQueue, KeepsAttacksOnOneUpdateTogether) {
  const FrozenExperiment experiment = SmallExperiment().frozen(R"(
    [federation]
    epochs = [10, 100]
    [[attack]]
    method = "paper"
    cutoff = ["none", "auto", "oracle"]
  )");
  CellQueue queue(pending(experiment));
  const auto one = queue.next(""), other = queue.next("");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->cell->config.at("federation").at("epochs"), 100);
  EXPECT_EQ(other->cell->config.at("federation").at("epochs"), 10);
  const std::string update = update_key(other->cell->config);
  EXPECT_EQ(queue.next(update)->cell->config.at("federation").at("epochs"), 10);
  EXPECT_EQ(queue.next(update)->cell->config.at("federation").at("epochs"), 10);
  EXPECT_EQ(queue.next(update)->cell->config.at("federation").at("epochs"), 100);  // helps where most is left
  EXPECT_EQ(queue.next(update_key(one->cell->config))->cell->config.at("federation").at("epochs"), 100);
  EXPECT_FALSE(queue.next(update));
}

}  // namespace
}  // namespace undertext
