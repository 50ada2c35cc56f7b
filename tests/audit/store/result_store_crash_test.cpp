// Processes that are killed, disks that are full, folders that cannot be written.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "audit/store/result_store.h"
#include "base/files.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "child.h"
#include "stored_results.h"

namespace undertext {
namespace {

using Access = ResultStore::Access;

void freeze(const std::filesystem::path& folder, std::int64_t cells) {
  ResultStore(folder, Access::write).freeze(experiment_of(cells));
}

TEST(ResultStoreCrash, TakesOverTheCellOfAKilledProcess) {
  const TemporaryFolder folder;
  freeze(folder.path(), 2);
  Child child([&](const Child::Say& say) {
    ResultStore store(folder.path(), Access::write);
    say(store.claim(key_of(0), 0) ? "claimed" : "refused");
    pause();
  });
  ASSERT_EQ(child.hear(), "claimed");
  ResultStore before(folder.path(), Access::write);
  EXPECT_FALSE(before.claim(key_of(0), 0));  // it lives
  EXPECT_TRUE(before.claim(key_of(1), 0));
  child.kill();
  EXPECT_TRUE(before.claim(key_of(0), 0));
  // Who comes after clears away what the dead left, and nothing of who lives.
  ResultStore after(folder.path(), Access::write);
  EXPECT_FALSE(after.claim(key_of(0), 0));
  before.record(outcome_of(0));
  before.record(outcome_of(1));
  EXPECT_EQ(recorded_prefix(after, 2), 2);
}

TEST(ResultStoreCrash, LosesNothingThatWasCommitted) {
  constexpr std::int64_t kCells = 1000;
  const TemporaryFolder folder;
  freeze(folder.path(), kCells);
  Random random(Seed(1));
  std::int64_t known = 0;
  for (int round = 0; round < 12; ++round) {
    Child child([&](const Child::Say& say) {
      ResultStore store(folder.path(), Access::write);
      for (std::int64_t i = known; i < kCells; ++i) {
        record_cells(store, i, i + 1);
        say(".");
      }
    });
    // Also while it opens the file; but in the last round not before it has recorded something, however
    // slow the machine is.
    std::string heard = round == 11 ? child.hear() : "";
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(12000)));
    child.kill();
    heard += child.hear_all();
    const auto said = static_cast<std::int64_t>(heard.size());
    const ResultStore store(folder.path(), round % 2 == 0 ? Access::read : Access::write);
    const std::int64_t recorded = recorded_prefix(store, kCells);
    ASSERT_GE(recorded, known + said);
    ASSERT_LE(recorded, known + said + 1);  // it may have died before it could say so
    known = recorded;
  }
  EXPECT_GT(known, 0);
}

TEST(ResultStoreCrash, SurvivesAKillWhileTheFileIsMade) {
  Random random(Seed(2));
  for (int round = 0; round < 30; ++round) {
    const TemporaryFolder folder;
    Child child([&](const Child::Say&) { freeze(folder.path(), 20); });
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(8000)));
    child.kill();
    const std::string complaint = complaint_of_opening(folder.path(), Access::read);
    EXPECT_TRUE(complaint.empty() || complaint.find("no results here") != std::string::npos) << complaint;
    freeze(folder.path(), 20);
    EXPECT_EQ(recorded_prefix(ResultStore(folder.path(), Access::read), 20), 0);
  }
}

TEST(ResultStoreCrash, SharesCellsBetweenProcesses) {
  constexpr std::int64_t kCells = 300;
  const TemporaryFolder folder;
  // All at once make the file, freeze and run; each says for every cell that it ran one dot.
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(std::make_unique<Child>([&](const Child::Say& say) {
      ResultStore store(folder.path(), Access::write);
      store.freeze(experiment_of(kCells));
      for (std::int64_t cell = 0; cell < kCells; ++cell) {
        if (!store.claim(key_of(cell), 0)) continue;
        store.record(outcome_of(cell));
        say(".");
      }
    }));
  std::string said;
  for (const auto& child : children) said += child->hear_all();
  EXPECT_EQ(said, std::string(kCells, '.'));
  EXPECT_EQ(recorded_prefix(ResultStore(folder.path(), Access::read), kCells), kCells);
}

TEST(ResultStoreCrash, SaysThatTheDiskIsFull) {
  constexpr std::int64_t kCells = 2000;
  // From so little that not even the index of the log fits, to some hundred cells.
  for (const rlim_t limit : {20000, 100000, 600000}) {
    const TemporaryFolder folder;
    freeze(folder.path(), kCells);
    Child child([&](const Child::Say& say) {
      signal(SIGXFSZ, SIG_IGN);
      ResultStore store(folder.path(), Access::write);
      const rlimit most{limit, limit};
      if (limit > 20000) setrlimit(RLIMIT_FSIZE, &most);
      for (std::int64_t i = 0; i < kCells; ++i) {
        CellOutcome outcome = outcome_of(i);
        store.claim(outcome.key, 0);
        if (limit == 20000) setrlimit(RLIMIT_FSIZE, &most);
        store.record(outcome);
        say(".");
      }
    });
    const std::string said = child.hear_all();
    const auto dots = static_cast<std::int64_t>(said.find_first_not_of('.'));
    ASSERT_NE(said.find("results.sqlite: cannot write: the disk is full or the file may not grow"),
              std::string::npos)
        << limit << ": " << said;
    EXPECT_EQ(recorded_prefix(ResultStore(folder.path(), Access::read), kCells), dots);
    ResultStore store(folder.path(), Access::write);
    record_cells(store, dots, kCells);
    EXPECT_EQ(recorded_prefix(store, kCells), kCells);
  }
}

TEST(ResultStoreCrash, SaysThatTheDiskIsFullWhenItOpens) {
  for (const rlim_t limit : {0, 1000, 5000, 30000}) {
    const TemporaryFolder folder;
    Child child([&](const Child::Say&) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit most{limit, limit};
      setrlimit(RLIMIT_FSIZE, &most);
      freeze(folder.path(), 1000);
    });
    const std::string said = child.hear_all();
    EXPECT_NE(said.find("the disk is full or the file may not grow"), std::string::npos) << limit << said;
    freeze(folder.path(), 3);
    EXPECT_EQ(recorded_prefix(ResultStore(folder.path(), Access::read), 3), 0);
  }
}

// In a child that may not write, whoever runs the test.
std::string without_rights(const std::function<void(const Child::Say&)>& work) {
  return Child([&](const Child::Say& say) {
           if (getuid() == 0 && setuid(65534) != 0) throw UserError("cannot give up rights");
           work(say);
         })
      .hear_all();
}

class ReadOnlyFolder : public testing::Test {
 protected:
  void SetUp() override {
    freeze(folder.path(), 3);
    writer = std::make_unique<ResultStore>(folder.path(), Access::write);
    record_cells(*writer, 0, 2);
  }
  void TearDown() override { chmod(folder.path().c_str(), 0755); }
  void seal() { chmod(folder.path().c_str(), 0555); }
  std::string read_by_another() {
    return without_rights([&](const Child::Say& say) {
      say(std::to_string(recorded_prefix(ResultStore(folder.path(), Access::read), 3)));
    });
  }

  TemporaryFolder folder;
  std::unique_ptr<ResultStore> writer;
};

TEST_F(ReadOnlyFolder, IsReadAfterTheWriter) {
  writer.reset();
  seal();
  EXPECT_EQ(read_by_another(), "2");
}

TEST_F(ReadOnlyFolder, IsReadBesideTheWriter) {
  seal();
  EXPECT_EQ(read_by_another(), "2");
  record_cells(*writer, 2, 3);
  EXPECT_EQ(read_by_another(), "3");
}

// The log and perhaps its index, as a killed writer leaves them.
class ReadOnlyFolderOfTheKilled : public ReadOnlyFolder {
 protected:
  void SetUp() override {
    ReadOnlyFolder::SetUp();
    writer.reset();
    Child child([&](const Child::Say& say) {
      ResultStore store(folder.path(), Access::write);
      record_cells(store, 2, 3);
      say("done");
      pause();
    });
    ASSERT_EQ(child.hear(), "done");
  }
};

TEST_F(ReadOnlyFolderOfTheKilled, IsRead) {
  seal();
  EXPECT_EQ(read_by_another(), "3");
}

TEST_F(ReadOnlyFolderOfTheKilled, IsNotReadWithoutItsLog) {
  std::filesystem::remove(folder / "results.sqlite-shm");
  seal();
  const std::string said = read_by_another();
  EXPECT_NE(said.find("its last changes lie in"), std::string::npos) << said;
}

TEST_F(ReadOnlyFolder, IsNotWritten) {
  writer.reset();
  seal();
  const std::string said =
      without_rights([&](const Child::Say&) { ResultStore(folder.path(), Access::write); });
  EXPECT_NE(said.find("results.lock: cannot write: Permission denied"), std::string::npos) << said;
  // Where the locks can be written but the results cannot.
  chmod((folder / "results.lock").c_str(), 0666);
  const std::string more =
      without_rights([&](const Child::Say&) { ResultStore(folder.path(), Access::write); });
  EXPECT_NE(more.find("results.sqlite: cannot"), std::string::npos) << more;
}

TEST_F(ReadOnlyFolder, SaysThatTheFileIsSecret) {
  writer.reset();
  chmod((folder / "results.sqlite").c_str(), 0);
  seal();
  const std::string said = read_by_another();
  EXPECT_NE(said.find("results.sqlite: cannot open: Permission denied"), std::string::npos) << said;
}

}  // namespace
}  // namespace undertext
