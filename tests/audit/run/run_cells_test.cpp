#include "audit/run/run_cells.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "audit/experiment/reported.h"
#include "audit/experiment/small_experiment.h"

namespace undertext {
namespace {

using nlohmann::json;

class Runs : public ::testing::Test {
 protected:
  // A run of its own, as another call of the program would be.
  RunSummary run(const FrozenExperiment& experiment, const RunOptions& options = {}, int jobs = 1,
                 const std::string& out = "out") {
    std::filesystem::create_directories(small_.folder_ / out);
    ResultStore store(small_.folder_ / out, ResultStore::Access::write);
    store.freeze(experiment);
    const auto workers = thread_workers(jobs, 1, small_.sources_);
    return run_cells(store, experiment.cells, *workers, options);
  }

  // What a run may not change: everything but times, memory and hosts.
  std::map<std::string, std::string> rows(const std::string& out = "out") const {
    std::map<std::string, std::string> all;
    const ResultStore store(small_.folder_ / out, ResultStore::Access::read);
    for (const std::string& name : store.experiments())
      for (const StoredCell& cell : store.cells(name))
        if (cell.attempts > 0)
          all[cell.frozen.key] = cell.outcome.failed ? cell.outcome.error : cell.outcome.result.dump();
    return all;
  }

  SmallExperiment small_;
};

TEST_F(Runs, AnyNumberOfJobsGivesTheSameRows) {
  const FrozenExperiment experiment = small_.frozen(SmallExperiment::seeds(30));
  for (const int jobs : {1, 2, 4}) {
    const RunSummary summary = run(experiment, {}, jobs, fmt::format("jobs{}", jobs));
    EXPECT_EQ(summary.ran, 30);
    EXPECT_EQ(summary.failed, 0);
    EXPECT_EQ(summary.left(), 0);
  }
  EXPECT_EQ(rows("jobs1").size(), 30u);
  EXPECT_EQ(rows("jobs1"), rows("jobs2"));
  EXPECT_EQ(rows("jobs1"), rows("jobs4"));
}

TEST_F(Runs, FinishedCellsAreSkipped) {
  const FrozenExperiment experiment = small_.frozen(SmallExperiment::seeds(10));
  RunOptions some;
  some.limit = 4;
  const RunSummary first = run(experiment, some);
  EXPECT_EQ(first.ran, 4);
  EXPECT_EQ(first.left(), 6);
  const RunSummary second = run(experiment);
  EXPECT_EQ(second.before, 4);
  EXPECT_EQ(second.ran, 6);
  EXPECT_EQ(run(experiment).ran, 0);
  EXPECT_EQ(rows().size(), 10u);
}

TEST_F(Runs, FailuresAreRowsAndAreRetriedOnlyWhenAsked) {
  const FrozenExperiment experiment =
      small_.frozen("[federation]\nsends = \"gradient\"\nepochs = [1, 2, 3]\n");
  const RunSummary first = run(experiment);
  EXPECT_EQ(first.ran, 3);
  EXPECT_EQ(first.failed, 2);
  const RunSummary second = run(experiment);
  EXPECT_EQ(second.ran, 0);
  EXPECT_EQ(second.skipped, 2);
  RunOptions retry;
  retry.retry = true;
  const RunSummary third = run(experiment, retry);
  EXPECT_EQ(third.ran, 2);
  EXPECT_EQ(third.failed, 2);

  const std::vector<ReportedExperiment> shown = read_experiments(small_.folder_ / "out");
  ASSERT_EQ(shown.size(), 1u);
  int failed = 0;
  for (const ReportedCell& cell : shown[0].cells) {
    failed += cell.state == CellState::failed;
    EXPECT_EQ(cell.state == CellState::failed, !cell.error.empty());
  }
  EXPECT_EQ(failed, 2);
}

TEST_F(Runs, StopsWhenAsked) {
  const FrozenExperiment experiment = small_.frozen(SmallExperiment::seeds(50));
  RunOptions options;
  int asked = 0;
  options.stopped = [&] { return ++asked > 5; };
  const RunSummary summary = run(experiment, options);
  EXPECT_TRUE(summary.stopped);
  EXPECT_LT(summary.ran, 50);
  EXPECT_EQ(run(experiment).left(), 0);
  EXPECT_EQ(rows().size(), 50u);
}

// A file that is edited between two runs: what is the same is not run again, what is gone is not shown.
TEST_F(Runs, AnEditedExperimentKeepsWhatItCan) {
  run(small_.frozen("[federation]\nepochs = [1, 2, 3]"));
  const FrozenExperiment edited = small_.frozen("[federation]\nepochs = [2, 3, 4, 5]");
  const RunSummary summary = run(edited);
  EXPECT_EQ(summary.before, 2);
  EXPECT_EQ(summary.ran, 2);
  EXPECT_EQ(read_experiments(small_.folder_ / "out")[0].cells.size(), 4u);
  EXPECT_EQ(run(small_.frozen("[federation]\nepochs = [1, 2, 3]")).ran, 0);
}

TEST_F(Runs, TwoAtOnceShareTheCells) {
  const FrozenExperiment experiment = small_.frozen(SmallExperiment::seeds(200));
  RunSummary one, other;
  std::thread first([&] { one = run(experiment); });
  std::thread second([&] { other = run(experiment); });
  first.join();
  second.join();
  EXPECT_EQ(one.ran + other.ran, 200);
  EXPECT_EQ(rows().size(), 200u);
}

TEST_F(Runs, ReportsHaveValuesMetricsAndSamples) {
  run(small_.frozen(R"(
    [federation]
    epochs = [1, 2]
    clients = 2
    [[attack]]
    kind = "sentences"
    method = "paper"
    [metrics]
    words = 3
    [[plot]]
    kind = "line"
    x = "federation.epochs"
    y = "exact"
  )"));
  const std::vector<ReportedExperiment> shown = read_experiments(small_.folder_ / "out");
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].axes, std::vector<std::string>({"federation.epochs"}));
  ASSERT_EQ(shown[0].cells.size(), 4u);
  const ReportedCell& cell = shown[0].cells[1];
  EXPECT_EQ(cell.state, CellState::done);
  EXPECT_EQ(cell.texts, "texts.txt, client 1");
  EXPECT_EQ(cell.values, std::vector<json>({1}));
  EXPECT_FALSE(cell.metrics.empty());
  EXPECT_GE(cell.pairs.size(), 4u);
  EXPECT_GT(cell.seconds, 0);
  EXPECT_GT(cell.peak_memory, 0);
  EXPECT_EQ(shown[0].plots.at(0).y, "exact");
}

}  // namespace
}  // namespace undertext
