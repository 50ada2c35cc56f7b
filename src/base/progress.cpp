#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace undertext {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLog = std::chrono::seconds(30);
constexpr int kLogWidth = 110;
constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 8;

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Columns, where every code point takes one: enough for the words that titles and notes hold.
int columns(const std::string& text) {
  return static_cast<int>(std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

std::string cut(const std::string& text, int width) {
  int seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_continuation(text[i]) && ++seen > width) return text.substr(0, i);
  }
  return text;
}

std::string clock(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, 359999.0)));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// Three figures, whatever the size: 0.0123, 3.14, 512, 12,300 as 12.3k.
std::string rate_text(double rate) {
  if (rate >= 1e6) return fmt::format("{:.3g}M", rate / 1e6);
  if (rate >= 1e4) return fmt::format("{:.3g}k", rate / 1e3);
  return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

double seconds_left(const ProgressLine& line) {
  const auto done = static_cast<double>(line.done), total = static_cast<double>(line.total);
  if (line.work > 0 && line.work_done > 0)
    return line.seconds * std::max(line.work - line.work_done, 0.) / line.work_done;
  return line.seconds * (total - done) / done;
}

}  // namespace

std::string to_string(const ProgressLine& line) {
  const double rate = line.seconds > 0 ? static_cast<double>(line.done) / line.seconds : 0;
  std::string facts = line.total > 0 ? fmt::format("{}/{} {}", line.done, line.total, line.unit)
                                     : fmt::format("{} {}", line.done, line.unit);
  if (rate > 0) {
    facts += fmt::format(", {}/s", rate_text(rate));
    if (line.total > line.done) facts += fmt::format(", {} left", clock(seconds_left(line)));
  }
  if (!line.note.empty()) facts += ", " + line.note;

  std::string bar;
  const int room = line.width - columns(line.title) - columns(facts) - 4;  // two spaces, two brackets
  if (line.total > 0 && room >= kNarrowestBar) {
    const int cells = std::min(room, kWidestBar);
    const double share = std::clamp(static_cast<double>(line.done) / static_cast<double>(line.total), 0., 1.);
    const auto full = static_cast<std::size_t>(share * cells);
    bar = fmt::format("[{}{}] ", std::string(full, '#'),
                      std::string(static_cast<std::size_t>(cells) - full, '.'));
  }
  return cut(fmt::format("{} {}{}", line.title, bar, facts), line.width);
}

Progress::Progress(std::string title, std::int64_t total, std::string unit, Elsewhere elsewhere, double work)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      work_(work),
      shown_(isatty(STDERR_FILENO) == 1),
      logged_(!shown_ && elsewhere == Elsewhere::log),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_) {
  drawn_ -= kLog;  // the first line comes at once
  advance(0);
}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::advance(std::int64_t steps, const std::string& note, double work) {
  if (!shown_ && !logged_) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  work_done_ += work;
  const auto now = std::chrono::steady_clock::now();
  if (shown_ ? steps != 0 && now - drawn_ < kRedraw && done_ != total_ : now - drawn_ < kLog) return;
  drawn_ = now;
  const ProgressLine line{.title = title_,
                          .unit = unit_,
                          .note = note,
                          .done = done_,
                          .total = total_,
                          .work_done = work_done_,
                          .work = work_,
                          .seconds = std::chrono::duration<double>(now - start_).count(),
                          .width = shown_ ? terminal_width() - 1 : kLogWidth};
  if (shown_)
    std::fprintf(stderr, "\r%s\x1b[K", to_string(line).c_str());
  else
    std::fprintf(stderr, "undertext: %s\n", to_string(line).c_str());
  std::fflush(stderr);
}

}  // namespace undertext
