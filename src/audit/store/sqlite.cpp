#include "audit/store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"

namespace undertext::sqlite {
namespace {

// As a URI, which is the only way to say "immutable". Absolute, so that no name is taken for an option.
std::string uri(const std::filesystem::path& file, Database::Mode mode) {
  std::string out = "file://";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      out += fmt::format("%{:02X}", c);
    } else {
      out += c;
    }
  }
  return mode == Database::Mode::frozen ? out + "?immutable=1" : out;
}

int flags_of(Database::Mode mode) {
  constexpr int kCommon = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case Database::Mode::write:
      return kCommon | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    // Not read-only where the system allows more: such a connection cannot clear away the log when it is the
    // last one.
    case Database::Mode::read:
      return kCommon | SQLITE_OPEN_READWRITE;
    case Database::Mode::frozen:
      return kCommon | SQLITE_OPEN_READONLY;
  }
  return kCommon;
}

// The system's reason. SQLite forgets it in a commit; the database and its log remember.
int system_error_of(sqlite3* database) {
  int error = sqlite3_system_errno(database);
  if (error == 0) sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  sqlite3_file* log = nullptr;
  if (error == 0) sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

bool out_of_space(int code, int system_error) {
  if ((code & 0xFF) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE) return true;
  return (code & 0xFF) == SQLITE_IOERR &&
         (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG);
}

// With the system's reason, where it gave one.
std::string with_reason(std::string_view what, int system_error) {
  return system_error == 0 ? std::string(what) : fmt::format("{}: {}", what, std::strerror(system_error));
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Rows::Rows(const Database& database, Statement& statement) : database_(database), statement_(statement) {
  UNDERTEXT_CHECK(!statement_.running);
  statement_.running = true;
}

Rows::~Rows() {
  sqlite3_reset(statement_.handle.get());
  sqlite3_clear_bindings(statement_.handle.get());
  statement_.running = false;
}

bool Rows::next() {
  const int code = sqlite3_step(statement_.handle.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.complain(code);
  return code == SQLITE_ROW;
}

int Rows::columns() const {
  return sqlite3_column_count(statement_.handle.get());
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_.handle.get(), column) == SQLITE_NULL;
}

bool Rows::is_real(int column) const {
  return sqlite3_column_type(statement_.handle.get(), column) == SQLITE_FLOAT;
}

bool Rows::is_text(int column) const {
  return sqlite3_column_type(statement_.handle.get(), column) == SQLITE_TEXT;
}

std::int64_t Rows::integer(int column) const {
  return sqlite3_column_int64(statement_.handle.get(), column);
}

double Rows::real(int column) const {
  return sqlite3_column_double(statement_.handle.get(), column);
}

std::string_view Rows::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.handle.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.handle.get(), column))};
}

void Rows::bind(int index, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.handle.get(), index, value);
  if (code != SQLITE_OK) database_.complain(code);
}

void Rows::bind(int index, double value) {
  const int code = sqlite3_bind_double(statement_.handle.get(), index, value);
  if (code != SQLITE_OK) database_.complain(code);
}

void Rows::bind(int index, std::string_view value) {
  // Never a null pointer, which SQLite would take for a null.
  const char* data = value.empty() ? "" : value.data();
  const int code =
      sqlite3_bind_text64(statement_.handle.get(), index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_.complain(code);
}

Database::Database(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience)
    : name_(file.string()), patience_(patience) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(uri(file, mode).c_str(), &opened, flags_of(mode), nullptr);
  handle_.reset(opened);  // there even after a failure, to tell the reason
  if (code != SQLITE_OK) complain(code);
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(patience.count()));
  // The file may come from a stranger: nothing in it runs, and a page that lies is found when it is read.
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  run("PRAGMA cell_size_check = ON");
  run("PRAGMA foreign_keys = ON");
  if (mode != Mode::write) run("PRAGMA query_only = ON");
}

void Database::Closer::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Statement& Database::prepared(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* made = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &made, nullptr);
  if (code != SQLITE_OK) complain(code);
  Statement& statement = statements_[std::string(sql)];
  statement.handle.reset(made);
  return statement;
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_.get());
}

std::int64_t Database::number(std::string_view sql) {
  Rows rows = query(sql);
  return rows.next() ? rows.integer(0) : 0;
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

void Database::complain(int code) const {
  if (handle_ == nullptr || (code & 0xFF) == SQLITE_NOMEM) throw std::bad_alloc();
  UNDERTEXT_CHECK(code != SQLITE_MISUSE && code != SQLITE_RANGE);
  const std::string message = sqlite3_errmsg(handle_.get());
  const int system_error = system_error_of(handle_.get());
  if (out_of_space(code, system_error))
    fail("{}: cannot write: the disk is full or the file may not grow; what was recorded before is kept",
         name_);
  switch (code & 0xFF) {
    case SQLITE_READONLY:
      fail("{}: cannot write: the file or its folder is read-only", name_);
    case SQLITE_CANTOPEN:
      fail("{}: {}", name_, with_reason("cannot open", system_error));
    case SQLITE_IOERR:
      fail("{}: {}", name_, with_reason("cannot read or write", system_error));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      damaged(message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail("{}: other processes have kept it busy for {} s", name_,
           std::chrono::duration<double>(patience_).count());
    default:
      fail("{}: {}", name_, message);
  }
}

void Database::damaged(std::string_view what) const {
  fail("{}: is damaged ({}); move it away, with the files beside it that begin with its name, to start again",
       name_, what);
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // After some errors SQLite has undone it already.
  if (!database_.in_transaction()) return;
  try {
    database_.run("ROLLBACK");
  } catch (...) {  // closing the file undoes it as well
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
}

}  // namespace undertext::sqlite
