#include "audit/store/sqlite.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "stored_results.h"

namespace undertext::sqlite {
namespace {

using std::chrono::milliseconds;
using Mode = Database::Mode;

constexpr milliseconds kShort{20};

TEST(Sqlite, BindsAndReadsEveryKind) {
  const TemporaryFolder folder;
  Database database(folder / "a.sqlite", Mode::write, kShort);
  database.run("CREATE TABLE t (i INTEGER, r REAL, t TEXT, n TEXT) STRICT");
  const std::string text("a\0b", 3);
  EXPECT_EQ(database.run("INSERT INTO t VALUES (?1, ?2, ?3, NULL)", std::int64_t{-5}, 0.1, text), 1);
  database.run("INSERT INTO t VALUES (?1, ?2, ?3, NULL)", true, -0.0, std::string_view());
  Rows rows = database.query("SELECT i, r, t, n FROM t ORDER BY rowid");
  EXPECT_EQ(rows.columns(), 4);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer(0), -5);
  EXPECT_EQ(rows.real(1), 0.1);
  EXPECT_EQ(rows.text(2), text);
  EXPECT_TRUE(rows.is_null(3));
  EXPECT_EQ(rows.text(3), "");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer(0), 1);
  EXPECT_TRUE(rows.is_text(2));  // empty, not null
  EXPECT_FALSE(rows.next());
}

TEST(Sqlite, UndoesATransactionThatIsNotCommitted) {
  const TemporaryFolder folder;
  Database database(folder / "a.sqlite", Mode::write, kShort);
  database.run("CREATE TABLE t (i INTEGER PRIMARY KEY)");
  {
    Transaction change(database, Transaction::Kind::write);
    database.run("INSERT INTO t VALUES (1)");
    EXPECT_TRUE(database.in_transaction());
  }
  EXPECT_FALSE(database.in_transaction());
  EXPECT_EQ(database.number("SELECT count(*) FROM t"), 0);
  // A statement that failed can be run again.
  for (int i = 0; i < 2; ++i) {
    database.run("INSERT OR IGNORE INTO t VALUES (7)");
    EXPECT_NE(complaint_of([&] { database.run("INSERT INTO t VALUES (7)"); }).find("UNIQUE"),
              std::string::npos);
  }
}

TEST(Sqlite, SaysThatAnotherKeepsItBusy) {
  const TemporaryFolder folder;
  Database one(folder / "a.sqlite", Mode::write, kShort), two(folder / "a.sqlite", Mode::write, kShort);
  one.run("CREATE TABLE t (i INTEGER)");
  Transaction change(one, Transaction::Kind::write);
  EXPECT_EQ(complaint_of([&] { Transaction(two, Transaction::Kind::write); }),
            (folder / "a.sqlite").string() + ": other processes have kept it busy for 0.02 s");
}

TEST(Sqlite, SaysThatItCannotWriteOrOpen) {
  const TemporaryFolder folder;
  EXPECT_NE(complaint_of([&] {
              Database(folder / "no" / "a.sqlite", Mode::write, kShort);
            }).find("cannot open: No such file or directory"),
            std::string::npos);
  { Database(folder / "a.sqlite", Mode::write, kShort).run("CREATE TABLE t (i INTEGER)"); }
  for (const Mode mode : {Mode::read, Mode::frozen}) {
    Database database(folder / "a.sqlite", mode, kShort);
    EXPECT_EQ(complaint_of([&] { database.run("INSERT INTO t VALUES (1)"); }),
              (folder / "a.sqlite").string() + ": cannot write: the file or its folder is read-only");
  }
}

TEST(Sqlite, SaysThatTheFileIsDamaged) {
  const TemporaryFolder folder;
  write_file(folder / "a.sqlite", std::string(5000, 'x'));
  Database database(folder / "a.sqlite", Mode::write, kShort);
  EXPECT_EQ(
      complaint_of([&] { database.number("SELECT count(*) FROM sqlite_schema"); }),
      (folder / "a.sqlite").string() +
          ": is damaged (file is not a database); move it away, with the files beside it that begin with its "
          "name, to start again");
}

TEST(Sqlite, SaysThatTheDiskIsFull) {
  const TemporaryFolder folder;
  Database database(folder / "a.sqlite", Mode::write, kShort);
  database.run("CREATE TABLE t (t TEXT)");
  database.run("PRAGMA max_page_count = 10");
  EXPECT_NE(complaint_of([&] {
              database.run("INSERT INTO t VALUES (?1)", std::string(100000, 'x'));
            }).find("the disk is full"),
            std::string::npos);
  database.run("INSERT INTO t VALUES ('short')");
  EXPECT_EQ(database.number("SELECT count(*) FROM t"), 1);
}

}  // namespace
}  // namespace undertext::sqlite
