#include "audit/store/result_store.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "audit/store/result_file.h"
#include "audit/store/worker_locks.h"
#include "base/error.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using sqlite::Database;
using sqlite::Rows;
using sqlite::Transaction;

constexpr std::int64_t kOpening = 0;  // the byte for taking turns; those of workers follow
constexpr std::int64_t kMostWorkers = std::int64_t{1} << 40;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string to_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The file may have been made by a stranger, and deeper trees would overflow the stack of who walks them.
json from_text(const Database& database, std::string_view text) {
  constexpr int kDeepest = 100;
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  json value = json::parse(text, watch, false);
  if (value.is_discarded() || too_deep) database.damaged("a text that should be JSON is not");
  return value;
}

Database open_in_turn(WorkerLocks& locks, const fs::path& file) {
  const Turn turn(locks, kOpening, file.string(), kResultPatience);
  return open_results_to_write(file);
}

fs::path existing(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail("{}: is not a folder, expected one for results", folder.string());
  return folder;
}

}  // namespace

struct ResultStore::Implementation {
  // To write: a worker.
  Implementation(const fs::path& folder, const std::string& lock_name)
      : locks(std::in_place, existing(folder) / lock_name),
        database(open_in_turn(*locks, folder / kFileName)) {
    check_results(database);
    enlist();
  }
  // To read.
  explicit Implementation(const fs::path& folder) : database(open_results_to_read(folder / kFileName)) {
    check_results(database);
  }
  ~Implementation();

  void enlist();
  void forget(std::int64_t id);
  void forget_the_dead();
  std::int64_t attempts_of(const std::string& key);
  bool free_to_claim(const std::string& key);
  std::vector<std::string> members(const std::string& experiment);
  void set_members(const FrozenExperiment& experiment);

  std::optional<WorkerLocks> locks;  // before the database: the lock outlives the farewell
  Database database;
  std::int64_t worker = 0;  // 0: a reader
  std::unordered_set<std::string> claimed;
};

// The lock comes before the row can be seen, so that a worker never looks dead before it lives.
void ResultStore::Implementation::enlist() {
  Transaction change(database, Transaction::Kind::write);
  forget_the_dead();
  // Never an id that was given before, or a worker whose lock was removed could take another's claims for its
  // own.
  std::int64_t id = database.number("SELECT seq FROM sqlite_sequence WHERE name = 'workers'");
  do {
    if (id < 0 || id >= kMostWorkers) database.damaged("there were too many workers");
  } while (!locks->take(++id));
  database.run("INSERT INTO workers (id, host, pid) VALUES (?1, ?2, ?3)", id, host_name(),
               std::int64_t{::getpid()});
  change.commit();
  worker = id;
}

void ResultStore::Implementation::forget(std::int64_t id) {
  database.run("DELETE FROM claims WHERE worker = ?1", id);
  database.run("DELETE FROM workers WHERE id = ?1", id);
}

void ResultStore::Implementation::forget_the_dead() {
  std::vector<std::int64_t> dead;
  {
    // Claims as well: their worker's row may be gone.
    Rows rows = database.query("SELECT id FROM workers UNION SELECT worker FROM claims");
    while (rows.next())
      if (!locks->taken_by_another(rows.integer(0))) dead.push_back(rows.integer(0));
  }
  for (const std::int64_t id : dead) forget(id);
}

ResultStore::Implementation::~Implementation() {
  if (worker == 0) return;
  try {
    Transaction change(database, Transaction::Kind::write);
    forget(worker);
    change.commit();
  } catch (...) {  // the lock ends now, which says the same
  }
}

std::vector<std::string> keys_of(const std::vector<FrozenCell>& cells) {
  std::vector<std::string> keys;
  keys.reserve(cells.size());
  for (const FrozenCell& cell : cells) keys.push_back(cell.key);
  return keys;
}

ResultStore::ResultStore(const fs::path& folder, Access access) {
  const fs::path place = folder.empty() ? "." : folder;
  implementation_ = access == Access::write ? std::make_unique<Implementation>(place, kLockName)
                                            : std::make_unique<Implementation>(place);
}

ResultStore::~ResultStore() = default;

std::vector<std::string> ResultStore::Implementation::members(const std::string& experiment) {
  std::vector<std::string> keys;
  Rows rows = database.query("SELECT key FROM members WHERE experiment = ?1 ORDER BY position", experiment);
  while (rows.next()) keys.emplace_back(rows.text(0));
  return keys;
}

void ResultStore::Implementation::set_members(const FrozenExperiment& experiment) {
  database.run("DELETE FROM members WHERE experiment = ?1", experiment.name);
  std::int64_t position = 0;
  for (const FrozenCell& cell : experiment.cells) {
    insert_row(database, "INSERT OR IGNORE INTO cells VALUES (?1, ?2, ?3)", cell.key, to_text(cell.config));
    insert_row(database, "INSERT INTO members VALUES (?1, ?2, ?3, ?4)", experiment.name, position++,
               cell.key);
  }
}

FreezeChange ResultStore::freeze(const FrozenExperiment& experiment) {
  Implementation& self = *implementation_;
  UNDERTEXT_CHECK(self.worker != 0);
  Transaction change(self.database, Transaction::Kind::write);

  FreezeChange difference;
  std::int64_t position = self.database.number("SELECT coalesce(max(position), -1) + 1 FROM experiments");
  {
    Rows rows = self.database.query("SELECT position FROM experiments WHERE name = ?1", experiment.name);
    difference.first = !rows.next();
    if (!difference.first) position = rows.integer(0);
  }
  insert_row(self.database,
             "INSERT INTO experiments VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET"
             " facts = excluded.facts, checksum = excluded.checksum",
             experiment.name, position, to_text(experiment.facts));

  const std::vector<std::string> old_keys = self.members(experiment.name);
  std::vector<std::string> new_keys;
  for (const FrozenCell& cell : experiment.cells) new_keys.push_back(cell.key);
  if (old_keys != new_keys) self.set_members(experiment);
  const std::unordered_set<std::string> before(old_keys.begin(), old_keys.end());
  const std::unordered_set<std::string> after(new_keys.begin(), new_keys.end());
  for (const std::string& key : after) difference.added += !before.contains(key);
  for (const std::string& key : before) difference.dropped += !after.contains(key);
  change.commit();
  return difference;
}

std::vector<std::string> ResultStore::experiments() const {
  std::vector<std::string> names;
  Rows rows = implementation_->database.query("SELECT name FROM experiments ORDER BY position");
  while (rows.next()) names.emplace_back(rows.text(0));
  return names;
}

json ResultStore::facts(const std::string& experiment) const {
  Database& database = implementation_->database;
  Rows rows = database.query("SELECT facts FROM experiments WHERE name = ?1", experiment);
  if (!rows.next()) fail("{}: has no experiment {}", database.name(), quote(experiment));
  return from_text(database, rows.text(0));
}

std::vector<StoredCell> ResultStore::cells(const std::string& experiment) const {
  Database& database = implementation_->database;
  const Transaction one_state(database, Transaction::Kind::read);
  facts(experiment);  // it must be there
  std::vector<StoredCell> cells;
  Rows rows = database.query(
      "SELECT cells.key, config, attempts, failed, seconds, peak_memory, version, host, error, result"
      " FROM members JOIN cells ON cells.key = members.key LEFT JOIN outcomes ON outcomes.key = members.key"
      " WHERE experiment = ?1 ORDER BY position",
      experiment);
  while (rows.next()) {
    StoredCell& cell = cells.emplace_back();
    cell.frozen = {std::string(rows.text(0)), from_text(database, rows.text(1))};
    cell.attempts = rows.integer(2);
    if (cell.attempts == 0) continue;
    cell.outcome = {.key = cell.frozen.key,
                    .failed = rows.integer(3) != 0,
                    .error = std::string(rows.text(8)),
                    .result = from_text(database, rows.text(9)),
                    .seconds = rows.real(4),
                    .peak_memory = rows.integer(5),
                    .version = std::string(rows.text(6)),
                    .host = std::string(rows.text(7))};
  }
  return cells;
}

std::vector<ResultStore::Standing> ResultStore::standings(const std::vector<std::string>& keys) const {
  Database& database = implementation_->database;
  const Transaction one_state(database, Transaction::Kind::read);
  std::vector<Standing> standings;
  for (const std::string& key : keys) {
    Rows rows = database.query("SELECT attempts, failed FROM outcomes WHERE key = ?1", key);
    standings.push_back(rows.next() ? Standing{rows.integer(0), rows.integer(1) != 0} : Standing{});
  }
  return standings;
}

std::int64_t ResultStore::Implementation::attempts_of(const std::string& key) {
  Rows rows = database.query("SELECT attempts FROM outcomes WHERE key = ?1", key);
  return rows.next() ? rows.integer(0) : 0;
}

bool ResultStore::Implementation::free_to_claim(const std::string& key) {
  Rows rows = database.query("SELECT worker FROM claims WHERE key = ?1", key);
  return !rows.next() || rows.integer(0) == worker || !locks->taken_by_another(rows.integer(0));
}

bool ResultStore::claim(const std::string& key, std::int64_t attempts_seen) {
  Implementation& self = *implementation_;
  UNDERTEXT_CHECK(self.worker != 0);
  Transaction change(self.database, Transaction::Kind::write);
  if (self.attempts_of(key) != attempts_seen || !self.free_to_claim(key)) return false;
  self.database.run("INSERT OR REPLACE INTO claims (key, worker) VALUES (?1, ?2)", key, self.worker);
  change.commit();
  self.claimed.insert(key);
  return true;
}

void ResultStore::record(const CellOutcome& outcome) {
  Implementation& self = *implementation_;
  UNDERTEXT_CHECK(self.claimed.contains(outcome.key));
  Transaction change(self.database, Transaction::Kind::write);
  if (self.database.run("DELETE FROM claims WHERE key = ?1 AND worker = ?2", outcome.key, self.worker) != 1)
    fail("{}: another process has taken over a cell that this one runs; was {} removed?",
         self.database.name(), kLockName);
  insert_row(self.database,
             "INSERT OR REPLACE INTO outcomes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", outcome.key,
             self.attempts_of(outcome.key) + 1, std::int64_t{outcome.failed}, outcome.seconds,
             outcome.peak_memory, outcome.version, outcome.host, outcome.error, to_text(outcome.result));
  change.commit();
  self.claimed.erase(outcome.key);
}

}  // namespace undertext
