#include "audit/store/result_store.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "base/temporary_folder.h"
#include "stored_results.h"

namespace undertext {
namespace {

using Access = ResultStore::Access;

TEST(ResultStore, GivesBackWhatWasStored) {
  const TemporaryFolder folder;
  FrozenExperiment experiment = experiment_of(3);
  experiment.cells[0].config = {{"pi", std::numbers::pi},
                                {"tenth", 0.1},
                                {"tiny", std::numeric_limits<double>::denorm_min()},
                                {"huge", std::numeric_limits<double>::max()},
                                {"negative_zero", -0.0},
                                {"one", 1.0},
                                {"integer", std::numeric_limits<std::int64_t>::max()},
                                {"text", "\"quoted\" \u00fc\n\0"},
                                {"list", {1, 2.5, nullptr, true}}};
  CellOutcome outcome = outcome_of(0);
  outcome.result = experiment.cells[0].config;
  outcome.error = std::string("one\0two", 7);
  outcome.seconds = std::numbers::e;
  {
    ResultStore store(folder.path(), Access::write);
    store.freeze(experiment);
    EXPECT_TRUE(store.claim(key_of(0), 0));
    store.record(outcome);
  }
  for (const Access access : {Access::read, Access::write}) {
    const ResultStore store(folder.path(), access);
    EXPECT_EQ(store.experiments(), std::vector<std::string>{"figure-3"});
    EXPECT_EQ(store.facts("figure-3"), experiment.facts);
    const std::vector<StoredCell> cells = store.cells("figure-3");
    ASSERT_EQ(cells.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(cells[i].frozen.key, experiment.cells[i].key);
      EXPECT_EQ(cells[i].frozen.config.dump(), experiment.cells[i].config.dump());
      EXPECT_EQ(cells[i].attempts, i == 0 ? 1 : 0);
    }
    EXPECT_TRUE(same(cells[0].outcome, outcome));
    EXPECT_EQ(cells[0].outcome.result.dump(), outcome.result.dump());
    EXPECT_TRUE(std::signbit(cells[0].outcome.result["negative_zero"].get<double>()));
  }
}

TEST(ResultStore, NamesAnExperimentThatIsNotThere) {
  const TemporaryFolder folder;
  const ResultStore store(folder.path(), Access::write);
  EXPECT_EQ(store.experiments(), std::vector<std::string>{});
  EXPECT_NE(complaint_of([&] { store.cells("no\nsuch"); }).find("has no experiment \"no\\x0asuch\""),
            std::string::npos);
}

TEST(ResultStore, FreezesTheSameExperimentAgain) {
  const TemporaryFolder folder;
  ResultStore store(folder.path(), Access::write);
  const FreezeChange first = store.freeze(experiment_of(4));
  EXPECT_TRUE(first.first);
  EXPECT_EQ(first.added, 4);
  EXPECT_EQ(first.dropped, 0);
  record_cells(store, 0, 2);
  const FreezeChange again = store.freeze(experiment_of(4));
  EXPECT_FALSE(again.first);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.dropped, 0);
  EXPECT_EQ(recorded_prefix(store, 4), 2);
}

TEST(ResultStore, KeepsResultsForAConfigThatComesBack) {
  const TemporaryFolder folder;
  ResultStore store(folder.path(), Access::write);
  store.freeze(experiment_of(4));
  record_cells(store, 0, 4);

  // Cells 0 and 1 go, 4 comes, and the order is another.
  FrozenExperiment changed = experiment_of(5);
  changed.cells = {changed.cells[4], changed.cells[3], changed.cells[2]};
  changed.facts = {{"title", "another"}};
  const FreezeChange change = store.freeze(changed);
  EXPECT_FALSE(change.first);
  EXPECT_EQ(change.added, 1);
  EXPECT_EQ(change.dropped, 2);
  EXPECT_EQ(store.facts("figure-3"), changed.facts);
  const std::vector<StoredCell> cells = store.cells("figure-3");
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].frozen.key, key_of(4));
  EXPECT_EQ(cells[0].attempts, 0);
  EXPECT_TRUE(same(cells[1].outcome, outcome_of(3)));

  const FreezeChange back = store.freeze(experiment_of(4));
  EXPECT_EQ(back.added, 2);
  EXPECT_EQ(back.dropped, 1);
  EXPECT_EQ(recorded_prefix(store, 4), 4);
}

TEST(ResultStore, SharesCellsBetweenExperiments) {
  const TemporaryFolder folder;
  ResultStore store(folder.path(), Access::write);
  store.freeze(experiment_of(3, "b"));
  store.freeze(experiment_of(2, "a"));
  store.freeze(experiment_of(1, "b"));
  EXPECT_EQ(store.experiments(), (std::vector<std::string>{"b", "a"}));
  record_cells(store, 0, 1);
  EXPECT_EQ(store.cells("a")[0].attempts, 1);
  EXPECT_EQ(store.cells("b")[0].attempts, 1);
}

TEST(ResultStore, LetsOneOfTwoHaveACell) {
  const TemporaryFolder folder;
  ResultStore one(folder.path(), Access::write), two(folder.path(), Access::write);
  one.freeze(experiment_of(2));
  EXPECT_TRUE(one.claim(key_of(0), 0));
  EXPECT_TRUE(one.claim(key_of(0), 0));  // it has it
  EXPECT_FALSE(two.claim(key_of(0), 0));
  EXPECT_TRUE(two.claim(key_of(1), 0));
  EXPECT_FALSE(one.claim(key_of(1), 0));
  one.record(outcome_of(0));
  EXPECT_FALSE(two.claim(key_of(0), 0));  // it is done
  EXPECT_EQ(two.standings({key_of(0), key_of(1), "unknown"})[0].attempts, 1);
}

TEST(ResultStore, FreesTheClaimsOfAStoreThatIsClosed) {
  const TemporaryFolder folder;
  ResultStore one(folder.path(), Access::write);
  one.freeze(experiment_of(1));
  {
    ResultStore two(folder.path(), Access::write);
    EXPECT_TRUE(two.claim(key_of(0), 0));
    EXPECT_FALSE(one.claim(key_of(0), 0));
  }
  EXPECT_TRUE(one.claim(key_of(0), 0));
}

TEST(ResultStore, RetriesAFailedCellOnceForWhoSawItFail) {
  const TemporaryFolder folder;
  ResultStore one(folder.path(), Access::write), two(folder.path(), Access::write);
  one.freeze(experiment_of(1));
  CellOutcome failure = outcome_of(0);
  failure.failed = true;
  failure.error = "out of memory";
  failure.result = nullptr;
  ASSERT_TRUE(one.claim(key_of(0), 0));
  one.record(failure);
  EXPECT_TRUE(one.standings({key_of(0)})[0].failed);
  EXPECT_TRUE(same(one.cells("figure-3")[0].outcome, failure));

  EXPECT_FALSE(two.claim(key_of(0), 0));
  EXPECT_TRUE(two.claim(key_of(0), 1));
  two.record(outcome_of(0));
  EXPECT_FALSE(one.claim(key_of(0), 1));  // saw the failure, but it has been mended since
  const std::vector<StoredCell> cells = one.cells("figure-3");
  EXPECT_EQ(cells[0].attempts, 2);
  EXPECT_TRUE(same(cells[0].outcome, outcome_of(0)));
}

TEST(ResultStore, RefusesToRecordWhatWasNotClaimed) {
  const TemporaryFolder folder;
  ResultStore store(folder.path(), Access::write);
  store.freeze(experiment_of(1));
  EXPECT_DEATH(store.record(outcome_of(0)), "this is a bug");
}

TEST(ResultStore, SaysWhenTheLocksWereRemoved) {
  const TemporaryFolder folder;
  ResultStore one(folder.path(), Access::write);
  one.freeze(experiment_of(1));
  ASSERT_TRUE(one.claim(key_of(0), 0));
  std::filesystem::remove(folder / ResultStore::kLockName);
  ResultStore two(folder.path(), Access::write);
  ASSERT_TRUE(two.claim(key_of(0), 0));
  EXPECT_NE(complaint_of([&] { one.record(outcome_of(0)); }).find("was results.lock removed?"),
            std::string::npos);
  two.record(outcome_of(0));
  EXPECT_EQ(recorded_prefix(two, 1), 1);
}

TEST(ResultStore, ReadsWhileAnotherWrites) {
  const TemporaryFolder folder;
  ResultStore writer(folder.path(), Access::write);
  writer.freeze(experiment_of(50));
  const ResultStore reader(folder.path(), Access::read);
  for (std::int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(recorded_prefix(reader, 50), i);
    record_cells(writer, i, i + 1);
  }
  EXPECT_EQ(recorded_prefix(ResultStore(folder.path(), Access::read), 50), 50);
}

TEST(ResultStore, LeavesOneFileAndTheLocks) {
  const TemporaryFolder folder;
  {
    ResultStore store(folder.path(), Access::write);
    store.freeze(experiment_of(3));
  }
  { const ResultStore reader(folder.path(), Access::read); }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"results.lock", "results.sqlite"}));
}

TEST(ResultStore, OpensFoldersWithAnyName) {
  const TemporaryFolder folder;
  for (const char* name : {"100% ready?", "a#b", "\u00fcber", "file:x", ":memory:", "it's; --"}) {
    std::filesystem::create_directory(folder / name);
    {
      ResultStore store(folder / name, Access::write);
      store.freeze(experiment_of(1));
    }
    EXPECT_TRUE(std::filesystem::exists(folder / name / "results.sqlite"));
    EXPECT_EQ(recorded_prefix(ResultStore(folder / name, Access::read), 1), 0);
  }
}

TEST(ResultStore, HoldsTenThousandCells) {
  constexpr std::int64_t kCells = 10000;
  const TemporaryFolder folder;
  {
    ResultStore store(folder.path(), Access::write);
    EXPECT_EQ(store.freeze(experiment_of(kCells)).added, kCells);
    record_cells(store, 0, kCells);
  }
  const ResultStore store(folder.path(), Access::read);
  EXPECT_EQ(recorded_prefix(store, kCells), kCells);
}

}  // namespace
}  // namespace undertext
