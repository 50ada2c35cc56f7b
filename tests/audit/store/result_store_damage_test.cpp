// Files that are not what they should be. Each is refused in one line that names it, or read correctly.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "audit/store/checksum.h"
#include "audit/store/result_store.h"
#include "audit/store/sqlite.h"
#include "base/files.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "child.h"
#include "stored_results.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;
using Access = ResultStore::Access;

constexpr std::int64_t kCells = 60, kRecorded = 50;

// The file of a store with kCells cells, kRecorded of them with outcomes.
std::string whole_file() {
  const TemporaryFolder folder;
  {
    ResultStore store(folder.path(), Access::write);
    store.freeze(experiment_of(kCells));
    record_cells(store, 0, kRecorded);
  }
  return read_file(folder / "results.sqlite");
}

// As the only file of a fresh folder.
struct Stored {
  explicit Stored(std::string_view bytes) { write_file(folder / "results.sqlite", bytes); }
  TemporaryFolder folder;
};

// Opens, reads and, where it may, goes on; true when the file was refused.
bool refused(const fs::path& folder, Access access) {
  const std::string complaint = complaint_of([&] {
    ResultStore store(folder, access);
    EXPECT_EQ(recorded_prefix(store, kCells), kRecorded);
    if (access == Access::read) return;
    record_cells(store, kRecorded, kCells);
    EXPECT_EQ(recorded_prefix(store, kCells), kCells);
  });
  EXPECT_TRUE(complaint.empty() || complaint.find("results.sqlite") != std::string::npos) << complaint;
  EXPECT_EQ(complaint.find('\n'), std::string::npos) << complaint;
  return !complaint.empty();
}

void change_with_sqlite(const fs::path& folder, const char* sql) {
  sqlite::Database(folder / "results.sqlite", sqlite::Database::Mode::write, std::chrono::seconds(1))
      .run(sql);
}

void expect_refused(const fs::path& folder, const std::string& why) {
  for (const Access access : {Access::read, Access::write})
    EXPECT_NE(complaint_of_opening(folder, access).find(why), std::string::npos)
        << complaint_of_opening(folder, access);
}

TEST(ResultStoreDamage, ReadsTheWholeFile) {
  const Stored stored(whole_file());
  EXPECT_FALSE(refused(stored.folder.path(), Access::read));
  EXPECT_FALSE(refused(stored.folder.path(), Access::write));
}

TEST(ResultStoreDamage, FindsNoResultsToRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(complaint_of_opening(folder.path(), Access::read),
            folder.path().string() + ": no results here, expected a folder that undertext run wrote");
  EXPECT_TRUE(folder.empty());
  EXPECT_EQ(complaint_of_opening(folder / "missing", Access::read),
            (folder / "missing").string() + ": no results here, expected a folder that undertext run wrote");
  EXPECT_EQ(complaint_of_opening(folder / "missing", Access::write),
            (folder / "missing").string() + ": is not a folder, expected one for results");
}

TEST(ResultStoreDamage, TakesAnEmptyFileForANewOne) {
  const Stored stored("");
  EXPECT_NE(complaint_of_opening(stored.folder.path(), Access::read).find("no results here yet"),
            std::string::npos);
  ResultStore(stored.folder.path(), Access::write).freeze(experiment_of(kCells));
  EXPECT_EQ(recorded_prefix(ResultStore(stored.folder.path(), Access::read), kCells), 0);
}

TEST(ResultStoreDamage, RefusesAFolderOrAPipeInItsPlace) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "results.sqlite");
  expect_refused(folder.path(), "results.sqlite: is a folder");
  fs::remove(folder / "results.sqlite");
  ASSERT_EQ(mkfifo((folder / "results.sqlite").c_str(), 0600), 0);
  expect_refused(folder.path(), "results.sqlite: is not a plain file");
}

TEST(ResultStoreDamage, RefusesANewerFormat) {
  const Stored stored(whole_file());
  change_with_sqlite(stored.folder.path(), "PRAGMA user_version = 7");
  expect_refused(stored.folder.path(),
                 "has format 7, written by a newer undertext; this one reads up to format 1");
}

TEST(ResultStoreDamage, RefusesAnotherProgramsDatabaseAndLeavesItAlone) {
  const TemporaryFolder folder;
  change_with_sqlite(folder.path(), "CREATE TABLE photos (name TEXT)");
  const std::string before = read_file(folder / "results.sqlite");
  expect_refused(folder.path(), "is a database of another program");
  EXPECT_EQ(read_file(folder / "results.sqlite"), before);
}

TEST(ResultStoreDamage, RefusesTablesThatAreNotOurs) {
  for (const char* change : {"DROP TABLE members", "CREATE TABLE more (x)", "CREATE VIEW more AS SELECT 1",
                             "CREATE TRIGGER more AFTER DELETE ON claims BEGIN DELETE FROM outcomes; END",
                             "ALTER TABLE cells ADD COLUMN more TEXT"}) {
    const Stored stored(whole_file());
    change_with_sqlite(stored.folder.path(), change);
    expect_refused(stored.folder.path(), "is damaged");
  }
}

TEST(ResultStoreDamage, RefusesRowsThatWereChanged) {
  for (const char* change :
       {"UPDATE outcomes SET result = replace(result, 'see', 'sea')", "UPDATE outcomes SET failed = 1",
        "UPDATE outcomes SET seconds = seconds + 1", "UPDATE cells SET config = '{}'",
        "UPDATE experiments SET facts = '{}'", "UPDATE members SET position = position + 1000"}) {
    const Stored stored(whole_file());
    change_with_sqlite(stored.folder.path(), change);
    expect_refused(stored.folder.path(), "has the wrong checksum");
  }
}

TEST(ResultStoreDamage, RefusesRandomBytes) {
  Random random(Seed(1));
  for (const std::size_t size : {1, 15, 16, 99, 100, 512, 4095, 4096, 50000}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    expect_refused(Stored(bytes).folder.path(), "is damaged");
    // With the right beginning.
    const std::string head = whole_file().substr(0, std::min<std::size_t>(size, 100));
    expect_refused(Stored(head + bytes.substr(head.size())).folder.path(), "is damaged");
  }
}

TEST(ResultStoreDamage, RefusesATruncatedFile) {
  const std::string bytes = whole_file();
  for (std::size_t size = 1; size < bytes.size(); size += 1023)
    for (const Access access : {Access::read, Access::write})
      EXPECT_TRUE(refused(Stored(bytes.substr(0, size)).folder.path(), access)) << size;
}

TEST(ResultStoreDamage, NeverBelievesAFlippedBit) {
  const std::string bytes = whole_file();
  Random random(Seed(2));
  int found = 0;
  constexpr int kFlips = 400;
  for (int flip = 0; flip < kFlips; ++flip) {
    std::string changed = bytes;
    // Half of them in the first bytes of pages, where the structure lies.
    std::size_t at = random.below(bytes.size());
    if (flip % 2 == 0) at = at / 4096 * 4096 + at % 64;
    changed[at] = static_cast<char>(changed[at] ^ (1 << random.below(8)));
    SCOPED_TRACE(at);
    found += refused(Stored(changed).folder.path(), flip % 4 < 2 ? Access::read : Access::write);
  }
  EXPECT_GT(found, kFlips / 3);  // the others hit what is not used
}

TEST(ResultStoreDamage, NeverBelievesAFlippedBitOfTheLog) {
  // The log as a killed writer leaves it.
  const TemporaryFolder folder;
  ResultStore(folder.path(), Access::write).freeze(experiment_of(kCells));
  {
    Child child([&](const Child::Say& say) {
      ResultStore store(folder.path(), Access::write);
      record_cells(store, 0, kRecorded);
      say("done");
      pause();
    });
    ASSERT_EQ(child.hear(), "done");
  }
  const std::string file = read_file(folder / "results.sqlite");
  const std::string log = read_file(folder / "results.sqlite-wal");
  Random random(Seed(3));
  for (int flip = 0; flip < 100; ++flip) {
    const Stored stored(file);
    std::string changed = log;
    const std::size_t at = random.below(flip % 4 == 0 ? 32 : log.size());
    changed[at] = static_cast<char>(changed[at] ^ (1 << random.below(8)));
    if (flip % 10 == 9) changed.resize(at);
    write_file(stored.folder / "results.sqlite-wal", changed);
    // SQLite believes a log up to the first thing wrong with it: results may be lost, never wrong.
    const std::string complaint = complaint_of([&] {
      const ResultStore store(stored.folder.path(), flip % 2 == 0 ? Access::read : Access::write);
      EXPECT_GE(recorded_prefix(store, kCells), 0) << at;
    });
    EXPECT_EQ(complaint, "");
  }
}

TEST(ResultStoreDamage, RefusesTextThatIsNotJson) {
  // With the right checksum, from someone who means it.
  for (const std::string& text : {std::string("{"), std::string(), std::string(100000, '['),
                                  std::string(100000, '[') + std::string(100000, ']')}) {
    const Stored stored(whole_file());
    {
      sqlite::Database database(stored.folder / "results.sqlite", sqlite::Database::Mode::write,
                                std::chrono::seconds(1));
      database.run("UPDATE experiments SET facts = ?1, checksum = ?2", text,
                   Checksum().add(std::string_view("figure-3")).add(std::int64_t{0}).add(text).value());
    }
    const ResultStore store(stored.folder.path(), Access::read);
    EXPECT_NE(complaint_of([&] { store.facts("figure-3"); }).find("should be JSON"), std::string::npos);
  }
}

TEST(ResultStoreDamage, RefusesImpossibleWorkers) {
  for (const char* change :
       {"UPDATE sqlite_sequence SET seq = 9223372036854775807", "UPDATE sqlite_sequence SET seq = -3",
        "INSERT INTO workers VALUES (9223372036854775807, 'x', 1)"}) {
    const Stored stored(whole_file());
    change_with_sqlite(stored.folder.path(), change);
    EXPECT_NE(complaint_of_opening(stored.folder.path(), Access::write), "") << change;
    EXPECT_EQ(complaint_of_opening(stored.folder.path(), Access::read), "") << change;
  }
}

}  // namespace
}  // namespace undertext
