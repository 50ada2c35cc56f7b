#include "report/experiment_table.h"

#include <gtest/gtest.h>

#include "experiment_fixture.h"
#include "lines.h"
#include "report/text_width.h"

namespace undertext {
namespace {

TEST(ExperimentTable, ShowsMeanSpreadAndNumber) {
  const auto lines = lines_of(experiment_table({fixture::small_experiment()}, false, 0));
  EXPECT_EQ(lines.at(0), "A small one");
  EXPECT_EQ(lines.at(2), "4 of 6 cells done, 1 failed, 1 pending");
  EXPECT_EQ(lines.at(4), "epochs  n                                  F1      seconds   peak memory");
  EXPECT_EQ(lines.at(6), "     1  3                       0.900 ± 0.100  2.00 ± 0.00  1.5 GB ± 0 B");
  EXPECT_EQ(lines.at(7), "    10  1, 1 failed, 1 pending          0.500         2.00        1.5 GB");
  EXPECT_EQ(lines.at(9), "failed: epochs 10, messages.txt, client 2, seed 2: it broke");
}

TEST(ExperimentTable, KeepsWithinTheTerminal) {
  for (const auto& experiments : {fixture::experiments(), fixture::hostile_experiments()}) {
    for (const int width : {200, 120, 100, 80, 60, 40}) {
      for (const std::string& line : lines_of(experiment_table(experiments, false, width)))
        ASSERT_LE(text_width(line), width) << line;
    }
  }
}

TEST(ExperimentTable, LeavesOutWhatHasNoRoomAndSaysSo) {
  const std::string narrow = experiment_table(fixture::experiments(), false, 60);
  const auto lines = lines_of(narrow);
  EXPECT_TRUE(contains(lines.at(4), "messages") && contains(lines.at(4), "F1")) << lines.at(4);
  EXPECT_TRUE(contains(narrow, "No room for: "));
  EXPECT_FALSE(contains(experiment_table(fixture::experiments(), false, 0), "No room for"));
}

TEST(ExperimentTable, ColoursOnlyWhenAsked) {
  EXPECT_FALSE(contains(experiment_table(fixture::experiments(), false, 100), "\033"));
  EXPECT_TRUE(contains(experiment_table(fixture::experiments(), true, 100), "\033[1;31m"));
}

TEST(ExperimentTable, LetsNoTextReachTheTerminalRaw) {
  const std::string table = experiment_table(fixture::hostile_experiments(), false, 0);
  for (const char c : table) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_FALSE(contains(table, "\u202E"));
}

TEST(ExperimentTable, AllPendingOrEmptyIsFine) {
  EXPECT_TRUE(contains(experiment_table({fixture::pending_experiment()}, false, 80),
                       "0 of 150 cells done, 150 pending"));
  EXPECT_TRUE(contains(experiment_table({ReportedExperiment{}}, false, 80), "0 cells done"));
  EXPECT_EQ(experiment_table({}, false, 80), "");
}

TEST(ExperimentMarkdown, IsATableWithFailures) {
  const auto lines = lines_of(experiment_markdown({fixture::small_experiment()}));
  EXPECT_EQ(lines.at(0), "## A small one");
  EXPECT_EQ(lines.at(6), "| epochs | n | F1 | seconds | peak memory |");
  EXPECT_EQ(lines.at(7), "|---:|---|---:|---:|---:|");
  EXPECT_EQ(lines.at(8), "| 1 | 3 | 0.900 ± 0.100 | 2.00 ± 0.00 | 1.5 GB ± 0 B |");
  EXPECT_EQ(lines.at(9), "| 10 | 1, 1 failed, 1 pending | 0.500 | 2.00 | 1.5 GB |");
  EXPECT_EQ(lines.at(13), "- epochs 10, messages.txt, client 2, seed 2: it broke");
}

TEST(ExperimentMarkdown, LetsNoTextBecomeMarkup) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.title = "a|b <script> *c* `d`\n# e";
  EXPECT_EQ(lines_of(experiment_markdown({experiment})).at(0),
            "## a\\|b &lt;script\\> \\*c\\* \\`d\\`\uFFFD\\# e");
  EXPECT_FALSE(contains(experiment_markdown(fixture::hostile_experiments()), "<"));
}

}  // namespace
}  // namespace undertext
