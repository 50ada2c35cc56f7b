// Progress of long work: on a terminal one line with bar, rate and time left; elsewhere nothing, or a line
// now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace undertext {

class Progress {
 public:
  enum class Elsewhere { silent, log };  // when stderr is no terminal; log: a line every half minute

  // unit: what is counted, plural ("steps"). total 0: unknown. work: in what the time left is measured, where
  // some steps take longer than others; 0: in steps.
  Progress(std::string title, std::int64_t total, std::string unit, Elsewhere elsewhere = Elsewhere::silent,
           double work = 0);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // note: a few words shown after the bar ("loss 4.21"). May be called from any thread.
  void advance(std::int64_t steps = 1, const std::string& note = "", double work = 0);

 private:
  std::string title_, unit_;
  std::int64_t total_, done_ = 0;
  double work_, work_done_ = 0;
  bool shown_, logged_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_, drawn_;
};

// The line that Progress draws, at most width columns of it: "title [####....] 12/40 steps, 3.1/s, 0:09 left,
// note". Parts that do not fit are left out, the bar first.
struct ProgressLine {
  std::string title, unit, note;
  std::int64_t done = 0, total = 0;
  double work_done = 0, work = 0;  // what the time left goes by; work 0: by done and total
  double seconds = 0;              // since the start
  int width = 80;
};
std::string to_string(const ProgressLine& line);

}  // namespace undertext
