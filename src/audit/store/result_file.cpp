#include "audit/store/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Rows;
using sqlite::Transaction;

constexpr std::int64_t kApplication = 0x756E6474;  // "undt"
constexpr std::int64_t kFormat = 1;

struct Table {
  std::string_view name, sql;
};

// As SQLite keeps them, to the letter: a file whose tables read otherwise is damaged. Rows of results lie in
// tables with row ids, since those without would spread a few kilobytes over two pages.
constexpr std::array<Table, 4> kSummed = {{
    {"cells",
     "CREATE TABLE cells (key TEXT PRIMARY KEY NOT NULL, config TEXT NOT NULL,"
     " checksum INTEGER NOT NULL) STRICT"},
    {"experiments",
     "CREATE TABLE experiments (name TEXT PRIMARY KEY NOT NULL,"
     " position INTEGER NOT NULL UNIQUE, facts TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT"},
    {"members",
     "CREATE TABLE members (experiment TEXT NOT NULL REFERENCES experiments, position INTEGER NOT NULL,"
     " key TEXT NOT NULL REFERENCES cells, checksum INTEGER NOT NULL,"
     " PRIMARY KEY (experiment, position)) STRICT, WITHOUT ROWID"},
    // The long texts last: what stands before them is read without them.
    {"outcomes",
     "CREATE TABLE outcomes (key TEXT PRIMARY KEY NOT NULL REFERENCES cells,"
     " attempts INTEGER NOT NULL CHECK (attempts > 0), failed INTEGER NOT NULL CHECK (failed IN (0, 1)),"
     " seconds REAL NOT NULL, peak_memory INTEGER NOT NULL, version TEXT NOT NULL, host TEXT NOT NULL,"
     " error TEXT NOT NULL, result TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT"},
}};
// What these say holds only while workers live.
constexpr std::array<Table, 2> kFleeting = {{
    {"workers",
     "CREATE TABLE workers (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL CHECK (id > 0), host TEXT NOT NULL,"
     " pid INTEGER NOT NULL) STRICT"},
    {"claims",
     "CREATE TABLE claims (key TEXT PRIMARY KEY NOT NULL REFERENCES cells,"
     " worker INTEGER NOT NULL CHECK (worker > 0)) STRICT, WITHOUT ROWID"},
}};

void check_is_file(const fs::path& file, bool may_be_missing) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT && may_be_missing) return;
    if (errno == ENOENT || errno == ENOTDIR)
      fail("{}: no results here, expected a folder that undertext run wrote", file.parent_path().string());
    fail("{}: cannot open: {}", file.string(), std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail("{}: is a folder, expected the file of results", file.string());
  if (!S_ISREG(status.st_mode)) fail("{}: is not a plain file, expected the file of results", file.string());
  // SQLite takes a few bytes for nothing and would write over them.
  constexpr off_t kLeast = 512;
  if (status.st_size > 0 && status.st_size < kLeast)
    fail("{}: is damaged (only {} bytes long); move it away to start again", file.string(), status.st_size);
}

enum class Origin { fresh, ours };

// What the header says, before anything is changed: another program's file must stay as it is.
Origin origin(Database& database) {
  const Transaction one_state(database, Transaction::Kind::read);
  const std::int64_t application = database.number("PRAGMA application_id");
  const std::int64_t format = database.number("PRAGMA user_version");
  const std::int64_t things = database.number("SELECT count(*) FROM sqlite_schema");
  if (application == 0 && format == 0 && things == 0) return Origin::fresh;
  if (application != kApplication)
    fail("{}: is a database of another program, expected results of undertext", database.name());
  if (format > kFormat)
    fail("{}: has format {}, written by a newer undertext; this one reads up to format {}", database.name(),
         format, kFormat);
  if (format != kFormat) database.damaged(fmt::format("its format is {}", format));
  return Origin::ours;
}

void make_tables(Database& database) {
  // A log beside the file: readers and a writer do not wait for each other. It is kept in the file's header.
  database.run("PRAGMA journal_mode = WAL");
  Transaction change(database, Transaction::Kind::write);
  for (const Table& table : kSummed) database.run(table.sql);
  for (const Table& table : kFleeting) database.run(table.sql);
  database.run(fmt::format("PRAGMA application_id = {}", kApplication));
  database.run(fmt::format("PRAGMA user_version = {}", kFormat));
  change.commit();
}

// No tables but ours (nor views and triggers), and ours as we made them.
void check_tables(Database& database) {
  std::int64_t found = 0;
  Rows rows =
      database.query("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
  const auto is_row = [&](const Table& table) {
    return rows.text(0) == table.name && rows.text(1) == table.sql;
  };
  while (rows.next()) {
    ++found;
    if (std::none_of(kSummed.begin(), kSummed.end(), is_row) &&
        std::none_of(kFleeting.begin(), kFleeting.end(), is_row))
      database.damaged(fmt::format("unexpected table {}", quote(rows.text(0))));
  }
  if (found != kSummed.size() + kFleeting.size()) database.damaged("a table is missing");
}

// SQLite's own check; of the indexes as well, which its quick check leaves out: a key that is lost there is a
// result that is lost.
void check_pages(Database& database) {
  Rows rows = database.query("PRAGMA integrity_check(1)");
  if (!rows.next()) database.damaged("it cannot be checked");
  std::string verdict(rows.text(0));
  std::replace(verdict.begin(), verdict.end(), '\n', ' ');
  if (verdict != "ok") database.damaged(verdict);
}

void check_sums(Database& database, std::string_view table) {
  Rows rows = database.query(fmt::format("SELECT * FROM {}", table));
  while (rows.next()) {
    Checksum sum;
    const int last = rows.columns() - 1;
    for (int column = 0; column < last; ++column) {
      if (rows.is_text(column)) {
        sum.add(rows.text(column));
      } else if (rows.is_real(column)) {
        sum.add(rows.real(column));
      } else {
        sum.add(rows.integer(column));
      }
    }
    if (sum.value() != rows.integer(last))
      database.damaged(fmt::format("a row of {} has the wrong checksum", table));
  }
}

bool may_write(const fs::path& folder) {
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

// Where neither log nor index of it can be made, SQLite opens only what it is told will not change; and then
// it does not look at a log, which must therefore hold nothing.
Database::Mode reading_mode(const fs::path& file) {
  const std::string log = file.string() + "-wal", index = file.string() + "-shm";
  std::error_code ignored;
  const bool has_log = fs::exists(log, ignored);
  if (may_write(file.parent_path()) || (has_log && fs::exists(index, ignored))) return Database::Mode::read;
  if (has_log && fs::file_size(log, ignored) > 0)
    fail(
        "{}: its last changes lie in {}, which can be read only in a folder that can be written; copy the "
        "folder",
        file.string(), log);
  return Database::Mode::frozen;
}

}  // namespace

Database open_results_to_write(const fs::path& file) {
  check_is_file(file, true);
  Database database(file, Database::Mode::write, kResultPatience);
  if (origin(database) == Origin::fresh) make_tables(database);
  // The log is not forced to the disk at each commit: a killed process loses nothing that was committed, for
  // the system has it. A power cut may lose the last commits, never part of one.
  database.run("PRAGMA synchronous = NORMAL");
  return database;
}

Database open_results_to_read(const fs::path& file) {
  check_is_file(file, false);
  Database database(file, reading_mode(file), kResultPatience);
  if (origin(database) == Origin::fresh)
    fail("{}: no results here yet, expected a folder that undertext run wrote", file.parent_path().string());
  return database;
}

void check_results(Database& database) {
  const Transaction one_state(database, Transaction::Kind::read);
  check_tables(database);
  check_pages(database);
  for (const Table& table : kSummed) check_sums(database, table.name);
}

}  // namespace undertext
