// Progress of long work on a terminal (bar, rate, time left); silent when stderr is not one.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace undertext {

class Progress {
 public:
  // unit: what is counted, plural ("steps"). total 0: unknown.
  Progress(std::string title, std::int64_t total, std::string unit);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // note: a few words shown after the bar ("loss 4.21"). May be called from any thread.
  void advance(std::int64_t steps = 1, const std::string& note = "");

 private:
  std::string title_, unit_;
  std::int64_t total_, done_ = 0;
  bool shown_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_, drawn_;
};

// The line that Progress draws, at most width columns of it: "title [####....] 12/40 steps, 3.1/s, 0:09 left,
// note". Parts that do not fit are left out, the bar first.
struct ProgressLine {
  std::string title, unit, note;
  std::int64_t done = 0, total = 0;
  double seconds = 0;  // since the start
  int width = 80;
};
std::string to_string(const ProgressLine& line);

}  // namespace undertext
