// Which workers live, without a clock: each holds a lock on its own byte of a shared file, and the system
// ends the lock with the process, however it dies.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace undertext {

// Locks belong to this object, not to the process: two of them in one process exclude each other.
class WorkerLocks {
 public:
  explicit WorkerLocks(const std::filesystem::path& file);  // makes the file where it is missing
  ~WorkerLocks();
  WorkerLocks(const WorkerLocks&) = delete;
  WorkerLocks& operator=(const WorkerLocks&) = delete;

  bool take(std::int64_t byte);  // false: another has it
  void release(std::int64_t byte);
  bool taken_by_another(std::int64_t byte) const;

 private:
  std::string name_;
  int descriptor_;
};

// Holds a byte for the length of a scope, after waiting for it; UserError when that takes longer than
// patience.
class Turn {
 public:
  Turn(WorkerLocks& locks, std::int64_t byte, const std::string& name, std::chrono::milliseconds patience);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  WorkerLocks& locks_;
  std::int64_t byte_;
};

}  // namespace undertext
