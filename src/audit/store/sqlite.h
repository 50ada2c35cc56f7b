// SQLite with owners: connections, statements and transactions that end by themselves. Every failure is a
// UserError that names the file and says in plain words what to do about it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace undertext::sqlite {

struct Statement {
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> handle;
  bool running = false;
};

class Database;

// The rows of a running statement, which ends with this object.
class Rows {
 public:
  // values: for ?1, ?2, ...
  template <typename... Values>
  Rows(const Database& database, Statement& statement, const Values&... values) : Rows(database, statement) {
    int index = 0;
    (bind(++index, values), ...);
  }
  Rows(const Database& database, Statement& statement);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  bool next();  // false after the last row
  int columns() const;
  // Columns count from 0. A null is 0 or empty.
  bool is_null(int column) const;
  bool is_real(int column) const;
  bool is_text(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // valid until next()

 private:
  void bind(int index, std::int64_t value);
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, bool value) { bind(index, std::int64_t{value}); }

  const Database& database_;
  Statement& statement_;
};

class Database {
 public:
  enum class Mode {
    write,   // makes the file where it is missing
    read,    // beside processes that write
    frozen,  // a file that nobody writes, in a folder where nothing can be made
  };
  // patience: how long to wait for other processes.
  Database(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience);

  const std::string& name() const { return name_; }

  // Runs a statement on values for ?1, ?2, ... It is prepared once and kept; only one may run at a time of
  // each.
  template <typename... Values>
  Rows query(std::string_view sql, const Values&... values) {
    return Rows(*this, prepared(sql), values...);
  }
  // For a statement without rows: how many rows it changed.
  template <typename... Values>
  std::int64_t run(std::string_view sql, const Values&... values) {
    Rows(*this, prepared(sql), values...).next();
    return changes();
  }
  std::int64_t number(std::string_view sql);  // the first column of the first row

  bool in_transaction() const;

  // Throws what SQLite last complained of.
  [[noreturn]] void complain(int code) const;
  [[noreturn]] void damaged(std::string_view what) const;

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  Statement& prepared(std::string_view sql);
  std::int64_t changes() const;

  std::string name_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<sqlite3, Closer> handle_;
  std::map<std::string, Statement, std::less<>> statements_;  // after handle_: they go first
};

// Undone unless commit() was reached.
class Transaction {
 public:
  enum class Kind {
    write,  // the only writer from its first moment, so that it never has to be tried again
    read,   // sees one state of the file
  };
  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
};

}  // namespace undertext::sqlite
