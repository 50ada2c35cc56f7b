#include "base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/threads.h"

namespace undertext {
namespace {

// Everything written to stderr while work runs with stderr pointing to fd; drained from source.
template <typename Work>
std::string stderr_of(int fd, int source, Work work) {
  std::fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  dup2(fd, STDERR_FILENO);
  work();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  fcntl(source, F_SETFL, O_NONBLOCK);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(source, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void count_to_ten() {
  Progress progress("training", 10, "steps");
  for (int i = 0; i < 10; ++i) progress.advance(1, "loss 4.21");
}

TEST(Progress, SilentInAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(stderr_of(ends[1], ends[0], count_to_ten), "");
  close(ends[0]);
  close(ends[1]);
}

// One line at once and the next after half a minute: ten quick steps are one line.
TEST(Progress, LogsQuietlyInAPipeWhereAsked) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text = stderr_of(ends[1], ends[0], [] {
    Progress progress("running", 10, "cells", Progress::Elsewhere::log);
    for (int i = 0; i < 10; ++i) progress.advance();
  });
  EXPECT_TRUE(text.starts_with("undertext: running [")) << text;
  EXPECT_TRUE(text.ends_with("] 0/10 cells\n")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  close(ends[0]);
  close(ends[1]);
}

// A tenth of the steps, but half of the work, in ten seconds: ten seconds are left.
TEST(Progress, MeasuresTheTimeLeftByTheWork) {
  const ProgressLine line{.title = "running",
                          .unit = "cells",
                          .note = "",
                          .done = 1,
                          .total = 10,
                          .work_done = 500,
                          .work = 1000,
                          .seconds = 10,
                          .width = 80};
  EXPECT_NE(to_string(line).find("1/10 cells, 0.1/s, 0:10 left"), std::string::npos) << to_string(line);
}

TEST(Progress, DrawsOnATerminalAndClearsTheLine) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) GTEST_SKIP() << "no pseudo-terminals here";
  const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "no pseudo-terminals here";
  winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(terminal, TIOCSWINSZ, &size);
  const std::string text = stderr_of(terminal, master, count_to_ten);
  EXPECT_NE(text.find("training [....."), std::string::npos) << text;
  EXPECT_NE(text.find("##] 10/10 steps, "), std::string::npos) << text;
  EXPECT_NE(text.find("loss 4.21"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << "one line, drawn over and over";
  close(terminal);
  close(master);
}

TEST(Progress, AdvancesFromManyThreads) {
  Progress progress("counting", 1000, "items");
  parallel_for(1000, [&](std::int64_t) { progress.advance(); });
}

ProgressLine half_done() {
  return {
      .title = "training", .unit = "steps", .note = "", .done = 20, .total = 40, .seconds = 10, .width = 80};
}

TEST(ProgressLine, ShowsBarRateAndTimeLeft) {
  EXPECT_EQ(to_string(half_done()), "training [###############...............] 20/40 steps, 2/s, 0:10 left");
}

TEST(ProgressLine, ShowsTheNote) {
  ProgressLine line = half_done();
  line.note = "loss 4.21";
  EXPECT_TRUE(to_string(line).ends_with("0:10 left, loss 4.21"));
}

TEST(ProgressLine, TellsLongTimesInHours) {
  ProgressLine line = half_done();
  line.seconds = 3725;
  EXPECT_NE(to_string(line).find("1:02:05 left"), std::string::npos) << to_string(line);
}

TEST(ProgressLine, WithoutATotalShowsWhatIsKnown) {
  ProgressLine line = half_done();
  line.total = 0;
  EXPECT_EQ(to_string(line), "training 20 steps, 2/s");
}

TEST(ProgressLine, AtTheStartClaimsNoRate) {
  ProgressLine line = half_done();
  line.done = 0;
  line.seconds = 0;
  EXPECT_EQ(to_string(line), "training [..............................] 0/40 steps");
}

TEST(ProgressLine, MoreThanTheTotalStaysInside) {
  ProgressLine line = half_done();
  line.done = 50;
  EXPECT_EQ(to_string(line), "training [##############################] 50/40 steps, 5/s");
}

TEST(ProgressLine, NeverWiderThanTheTerminal) {
  ProgressLine line = half_done();
  line.title = "Übung";  // one column per character, not per byte
  line.note = "ärger";
  for (line.width = 0; line.width < 90; ++line.width) {
    const std::string text = to_string(line);
    int columns = 0;
    for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    EXPECT_LE(columns, line.width) << text;
  }
  line.width = 40;
  EXPECT_EQ(to_string(line).find('['), std::string::npos) << "the bar goes first";
}

}  // namespace
}  // namespace undertext
