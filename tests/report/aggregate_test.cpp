#include "report/aggregate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiment_fixture.h"

namespace undertext {
namespace {

using nlohmann::json;

TEST(Summary, OfValuesByHand) {
  // Mean 5; squares 9+1+1+1+0+0+4+16 = 32; 32/7.
  const Summary summary = summary_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(summary.n, 8);
  EXPECT_DOUBLE_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(*summary.deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(summary.min, 2);
  EXPECT_EQ(summary.max, 9);
}

TEST(Summary, OneValueHasNoSpread) {
  const Summary summary = summary_of({0.25});
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.mean, 0.25);
  EXPECT_FALSE(summary.deviation);
}

TEST(Summary, EqualValuesHaveExactlyNone) {
  const Summary summary = summary_of({0.1, 0.1, 0.1});  // their sum is not 0.3
  EXPECT_EQ(summary.mean, 0.1);
  EXPECT_EQ(*summary.deviation, 0);
}

TEST(Summary, WhatIsNotFiniteStaysSo) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(summary_of({1, infinity}).mean, infinity);
  EXPECT_FALSE(summary_of({1, infinity}).deviation);
  EXPECT_FALSE(summary_of({infinity, infinity}).deviation);
  EXPECT_TRUE(std::isnan(summary_of({std::nan(""), 1}).mean));
}

TEST(Groups, CountFailuresAndDoNotAverageThem) {
  const auto groups = groups_of(fixture::small_experiment());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].values, std::vector<json>{1});
  EXPECT_EQ(groups[0].cells, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(groups[0].done, 3);
  EXPECT_DOUBLE_EQ(groups[0].find("f1")->mean, 0.9);
  EXPECT_NEAR(*groups[0].find("f1")->deviation, 0.1, 1e-12);
  EXPECT_EQ(groups[1].done, 1);
  EXPECT_EQ(groups[1].failed, 1);
  EXPECT_EQ(groups[1].pending, 1);
  EXPECT_EQ(groups[1].find("f1")->n, 1);
  EXPECT_EQ(groups[1].find("f1")->mean, 0.5);
  EXPECT_EQ(groups[1].find("exact"), nullptr);
  EXPECT_EQ(groups[1].find("seconds")->n, 1);
}

TEST(Groups, NumbersAreEqualHoweverWrittenButTextsAreNotNumbers) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.cells[0].values = {1.0};
  experiment.cells[2].values = {"1"};
  experiment.cells[4].values = {};  // nothing known of it
  const auto groups = groups_of(experiment);
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].done, 1);
  experiment.cells[4].values = {1};
  EXPECT_EQ(groups_of(experiment)[0].done, 2);
}

TEST(Groups, KeepTheOrderOfMetricsAndShowUnknownOnes) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.cells[0].metrics = {{"zebra", 1}, {"exact", 0.5}, {"f1", 0.25}, {"apple", 2}};
  EXPECT_EQ(metrics_of(experiment),
            (std::vector<std::string>{"f1", "exact", "seconds", "peak_memory", "apple", "zebra"}));
}

TEST(Counts, InWords) {
  EXPECT_EQ(counts_text({1, 0, 0}), "1 cell done");
  EXPECT_EQ(counts_text({12, 0, 0}), "12 cells done");
  EXPECT_EQ(counts_text({10, 1, 1}), "10 of 12 cells done, 1 failed, 1 pending");
  EXPECT_EQ(counts_text(counts_of(fixture::small_experiment())), "4 of 6 cells done, 1 failed, 1 pending");
}

}  // namespace
}  // namespace undertext
