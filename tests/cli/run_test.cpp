// Experiments end to end: run, resumed, killed, shared, spread over ranks, reported.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "audit/store/result_store.h"
#include "base/error.h"
#include "base/random.h"
#include "program.h"

namespace undertext {
namespace {

using nlohmann::json;
using std::chrono::duration;
using std::chrono::steady_clock;

// `cells` cells on the workplace's model; `epochs` says how long one takes.
std::string experiment(const Workplace& place, int cells, int epochs = 1, const std::string& more = "") {
  return place.write("e.toml", fmt::format(R"(
[model]
folder = "model"
[texts]
files = "texts.txt"
[federation]
epochs = {}
[[defence]]
kind = "noise-per-step"
[[attack]]
method = "paper"
[run]
seeds = {{from = 1, to = {}, steps = {}}}
{})",
                                           epochs, cells, cells, more));
}

// What a run may not change, by key: everything but times, memory and hosts. Each cell must have run once.
std::map<std::string, std::string> rows(const std::filesystem::path& folder) {
  std::map<std::string, std::string> all;
  const ResultStore store(folder, ResultStore::Access::read);
  for (const std::string& name : store.experiments()) {
    for (const StoredCell& cell : store.cells(name)) {
      if (cell.attempts == 0) continue;
      EXPECT_EQ(cell.attempts, 1) << cell.frozen.key;
      all[cell.frozen.key] = cell.outcome.error + cell.outcome.result.dump();
    }
  }
  return all;
}

// Cells done so far, also while a run writes; 0 where there is no store yet.
std::size_t done(const std::filesystem::path& folder) {
  try {
    return rows(folder).size();
  } catch (const UserError&) {
    return 0;
  }
}

TEST(Run, RunsSkipsAndReports) {
  const Workplace place;
  const std::string file = experiment(place, 3, 1, "[metrics]\nwords = 5\n[[plot]]\nkind = \"magnitudes\"\n");
  const Outcome first = undertext_run({"run", file, "--out", place.path("out")});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("3 cells done"), std::string::npos) << first.out;
  EXPECT_NE(first.err.find("3 of 3 cells done;"), std::string::npos) << first.err;
  EXPECT_NE(place.read("out/report.html").find("<!DOCTYPE html>"), std::string::npos);

  const Outcome second = undertext_run({"run", file, "--out", place.path("out"), "--json"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_NE(second.err.find("(3 before this run)"), std::string::npos) << second.err;
  EXPECT_EQ(std::ranges::count(second.out, '\n'), 3);
  EXPECT_EQ(json::parse(second.out.substr(0, second.out.find('\n'))).at("state"), "done");

  for (const char* format : {"table", "markdown", "csv", "jsonl"}) {
    const Outcome report = undertext_run({"report", place.path("out"), "--format", format});
    EXPECT_EQ(report.code, 0) << report.err;
    EXPECT_GT(report.out.size(), 50u) << format;
  }
  const Outcome same = undertext_run({"compare", place.path("out"), place.path("out"), "--json"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(same.json().is_object());
}

TEST(Run, ListsItsCellsAndLeavesNothing) {
  const Workplace place;
  const std::string file = experiment(place, 3);
  const auto before = place.listing();
  const Outcome run = undertext_run(
      {"run", file, "--dry-run", "--out", place.path("out"), "--set", "federation.epochs=[1, 2]"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(place.listing(), before);
  EXPECT_NE(run.out.find("e: 6 cells"), std::string::npos);
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 7);
  EXPECT_NE(run.out.find("seed 3 federation.epochs=2"), std::string::npos) << run.out;
}

TEST(Run, ListsWhatAFileMayHold) {
  const Outcome run = undertext_run({"run", "--keys"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("[federation]"), std::string::npos);
  EXPECT_NE(run.out.find("learning_rate"), std::string::npos);
  EXPECT_EQ(undertext_run({"run"}).code, 2);
}

TEST(Run, FailedCellsAreShownAndGiveAnotherExitCode) {
  const Workplace place;
  const std::string file = experiment(place, 2);
  const std::vector<std::string> words = {"run",   file,
                                          "--out", place.path("out"),
                                          "--set", "federation.sends=gradient",
                                          "--set", "federation.epochs=[1, 2]"};
  const Outcome run = undertext_run(words);
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_NE(run.err.find("2 of 4 cells done, 2 failed"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("failed"), std::string::npos) << run.out;
  const Outcome again = undertext_run(words);
  EXPECT_NE(again.err.find("2 failed before (--retry runs them again)"), std::string::npos) << again.err;
}

TEST(Run, JobsAndThreadsDoNotChangeTheRows) {
  const Workplace place;
  const std::string file = experiment(place, 12, 3);
  const std::vector<std::vector<std::string>> ways = {
      {"--jobs", "1", "--threads", "1"}, {"--jobs", "1", "--threads", "2"}, {"--jobs", "3"}};
  std::vector<std::map<std::string, std::string>> all;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::string out = fmt::format("out{}", i);
    std::vector<std::string> words = {"run", file, "--out", place.path(out)};
    words.insert(words.end(), ways[i].begin(), ways[i].end());
    EXPECT_EQ(undertext_run(words).code, 0);
    all.push_back(rows(place / out));
    EXPECT_EQ(all.back().size(), 12u);
    EXPECT_EQ(all.back(), all.front());
  }
}

TEST(Run, TwoProcessesShareOneStore) {
  const Workplace place;
  const std::string file = experiment(place, 40, 50);
  RunningProgram one({"run", file, "--out", place.path("out"), "--threads", "1"});
  RunningProgram other({"run", file, "--out", place.path("out"), "--threads", "1"});
  const Outcome first = one.wait(), second = other.wait();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(rows(place / "out").size(), 40u);  // rows() has seen that none ran twice
}

TEST(Run, GoesOnAfterAnInterrupt) {
  const Workplace place;
  const std::string file = experiment(place, 30, 2000);
  RunningProgram run({"run", file, "--out", place.path("out")});
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(place / "out/results.sqlite") && steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  run.signal(SIGINT);
  const Outcome stopped = run.wait();
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("left: the same command goes on"), std::string::npos) << stopped.err;
  const Outcome rest = undertext_run({"run", file, "--out", place.path("out")});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rows(place / "out").size(), 30u);
}

// UNDERTEXT_KILLS=200 is the long form.
TEST(Run, SurvivesKillsAtAnyMoment) {
  const char* asked = std::getenv("UNDERTEXT_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 12;
  const Workplace place;
  // Each life is ended within a few cells after its first, or while it still starts; no number of lives gets
  // all cells done.
  const int cells = std::max(48, 5 * kills);
  const std::string file = experiment(place, cells, 500);
  const std::vector<std::string> words = {"run", file, "--out", place.path("killed")};
  Random random{Seed(7)};
  int struck = 0;
  for (int i = 0; i < kills; ++i) {
    const std::size_t before = done(place / "killed");
    RunningProgram run(words);
    const bool early = random.uniform() < 0.3;
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (!early && done(place / "killed") == before && steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(early ? 200 : 40)));
    run.signal(SIGKILL);
    struck += run.wait().code == 128 + SIGKILL;
  }
  EXPECT_EQ(struck, kills);
  const Outcome clean = undertext_run(words);
  EXPECT_EQ(clean.code, 0) << clean.err;
  EXPECT_EQ(undertext_run({"run", file, "--out", place.path("undisturbed")}).code, 0);
  const auto killed = rows(place / "killed");
  EXPECT_EQ(killed.size(), static_cast<std::size_t>(cells));
  EXPECT_EQ(killed, rows(place / "undisturbed"));
}

TEST(Run, ADiskThatIsFullIsTold) {
  if (!on_path("prlimit")) GTEST_SKIP() << "no prlimit on the path: the file cannot be kept from growing";
  const Workplace place;
  const std::string file = experiment(place, 400);
  const Outcome full = run_program({"prlimit", "--fsize=200000", UNDERTEXT_BINARY, "run", file, "--out",
                                    place.path("out"), "--jobs", "2"});
  EXPECT_EQ(full.code, 2) << full.err;
  EXPECT_NE(full.err.find("results.sqlite"), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("full"), std::string::npos) << full.err;
  const Outcome rest = undertext_run({"run", file, "--out", place.path("out")});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rows(place / "out").size(), 400u);
}

TEST(Run, AReadOnlyFolderIsTold) {
  const Workplace place;
  const std::string file = experiment(place, 2);
  std::filesystem::create_directory(place / "out");
  std::filesystem::permissions(place / "out", std::filesystem::perms(0555));
  std::vector<std::string> words = {UNDERTEXT_BINARY, "run", file, "--out", place.path("out")};
  if (geteuid() == 0) {  // to whom every folder is open
    if (!on_path("setpriv")) GTEST_SKIP() << "root, and no setpriv on the path";
    std::filesystem::permissions(place / "", std::filesystem::perms(0755));
    words.insert(words.begin(), {"setpriv", "--reuid=65534", "--clear-groups"});
  }
  const Outcome run = run_program(words);
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_TRUE(one_line(run.err)) << run.err;
  EXPECT_NE(run.err.find("out"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(place / "out"));
}

class Ranks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!on_path("mpirun")) GTEST_SKIP() << "no mpirun on the path";
  }

  static Outcome mpirun(int ranks, std::vector<std::string> words) {
    words.insert(words.begin(), {"mpirun", "--oversubscribe", "-n", std::to_string(ranks), UNDERTEXT_BINARY});
    return run_program(words, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                               {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                               {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}});
  }
};

TEST_F(Ranks, OneTwoAndFourGiveTheSameRows) {
  const Workplace place;
  const std::string file = experiment(place, 16, 20);
  EXPECT_EQ(undertext_run({"run", file, "--out", place.path("alone")}).code, 0);
  const auto alone = rows(place / "alone");
  for (const int ranks : {1, 2, 4}) {
    const std::string out = fmt::format("ranks{}", ranks);
    const Outcome run = mpirun(ranks, {"run", file, "--out", place.path(out), "--threads", "1"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.err.find("16 of 16 cells done;"), std::string::npos) << run.err;
    EXPECT_EQ(rows(place / out), alone) << ranks;
  }
}

TEST_F(Ranks, AMistakeIsToldOnce) {
  const Workplace place;
  const std::string file = place.write("e.toml", "[federation]\nepoch = 1\n");
  const Outcome run = mpirun(3, {"run", file, "--out", place.path("out")});
  EXPECT_EQ(run.code, 2) << run.err;
  const std::string complaint = "the nearest valid key is federation.epochs";
  const std::size_t first = run.err.find(complaint);
  EXPECT_NE(first, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(complaint, first + 1), std::string::npos) << run.err;
}

// A script in rank 1's place kills the program, and then itself, while cells are left.
TEST_F(Ranks, ARankThatDiesEndsTheRunAndTheNextGoesOn) {
  const Workplace place;
  const std::string file = experiment(place, 60, 2000);
  const std::string program = UNDERTEXT_BINARY;
  const std::string script = place.write("rank.sh",
                                         "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then\n  \"$@\" "
                                         "&\n  while [ ! -e \"$STORE\" ]; do sleep .05; done\n"
                                         "  sleep .5\n  kill -9 $!\n  kill -9 $$\nfi\nexec \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms(0755));
  const Outcome run = run_program({"mpirun", "--oversubscribe", "-n", "2", script, program, "run", file,
                                   "--out", place.path("out"), "--threads", "1"},
                                  {{"STORE", place.path("out/results.sqlite")},
                                   {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                   {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                   {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}});
  EXPECT_NE(run.code, 0);
  EXPECT_NE(run.err.find("rank"), std::string::npos) << run.err;
  EXPECT_LT(rows(place / "out").size(), 60u);
  const Outcome rest = undertext_run({"run", file, "--out", place.path("out")});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rows(place / "out").size(), 60u);
}

}  // namespace
}  // namespace undertext
