// Progress of long work on a terminal (bar, rate, time left); silent when stderr is not one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace undertext {

class Progress {
 public:
  // unit: what is counted, plural ("steps"). total 0: unknown.
  Progress(std::string title, std::int64_t total, std::string unit);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // note: a few words shown after the bar ("loss 4.21").
  void advance(std::int64_t steps = 1, const std::string& note = "");

 private:
  std::string title_, unit_;
  std::int64_t total_, done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point start_, drawn_;
};

}  // namespace undertext
