// Where the results of experiments are kept: one SQLite file that survives kill -9 and is shared by
// processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace undertext {

// A cell before it runs: its key (a hash) and its resolved config, which never change again.
struct FrozenCell {
  std::string key;
  nlohmann::json config;
};

std::vector<std::string> keys_of(const std::vector<FrozenCell>& cells);

struct FrozenExperiment {
  std::string name;
  nlohmann::json facts;  // what the report tells of it: title, source, command, plots, axes, ...
  std::vector<FrozenCell> cells;
};

// What became of a cell.
struct CellOutcome {
  std::string key;
  bool failed = false;
  std::string error;      // failed: one line
  nlohmann::json result;  // metrics, sample, words: the same bytes for the same cell, whoever ran it
  double seconds = 0;
  std::int64_t peak_memory = 0;  // bytes
  std::string version, host;
};

struct StoredCell {
  FrozenCell frozen;
  std::int64_t attempts = 0;  // outcomes recorded; 0: pending
  CellOutcome outcome;        // the last one, when attempts > 0
};

// How freezing changed an experiment of the same name that was already there.
struct FreezeChange {
  bool first = true;  // there was none
  std::int64_t added = 0, dropped = 0;
};

// Every function throws UserError, naming the file, when the disk is full, the file is not ours, damaged,
// read-only or from a newer version.
class ResultStore {
 public:
  static constexpr const char* kFileName = "results.sqlite";
  static constexpr const char* kLockName = "results.lock";  // says which processes live; empty

  // write: makes the file where it is missing; the folder must be there. read: needs no right to write, and
  // does not disturb processes that write. Both read the whole file once, to know that it is undamaged.
  enum class Access { write, read };
  ResultStore(const std::filesystem::path& folder, Access access);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  // In one transaction: the experiment's cells are from now on these. Results of cells that no longer belong
  // to it stay in the file, for a config that comes back.
  FreezeChange freeze(const FrozenExperiment& experiment);

  std::vector<std::string> experiments() const;  // in the order in which they were first frozen
  nlohmann::json facts(const std::string& experiment) const;
  std::vector<StoredCell> cells(const std::string& experiment) const;  // in the order of freezing
  // Outcomes recorded by key, without reading the results: what is left to run.
  struct Standing {
    std::int64_t attempts = 0;
    bool failed = false;
  };
  std::vector<Standing> standings(const std::vector<std::string>& keys) const;

  // True when this process may run the cell now: no other living process has it, and nothing has been
  // recorded since `attempts_seen`. A claim ends with record(), with this object, or with the process,
  // however it dies.
  bool claim(const std::string& key, std::int64_t attempts_seen);
  // The outcome, whole or not at all, and the end of the claim.
  void record(const CellOutcome& outcome);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace undertext
