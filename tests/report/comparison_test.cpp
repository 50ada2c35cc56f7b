#include "report/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "experiment_fixture.h"
#include "report/text_width.h"

namespace undertext {
namespace {

using nlohmann::json;

// Cells of one group with these values of a metric; seeds from `first_seed` on.
ReportedExperiment with_values(const std::string& metric, const std::vector<double>& values,
                               std::uint64_t first_seed = 1) {
  ReportedExperiment experiment;
  experiment.name = "one";
  experiment.axes = {"federation.epochs"};
  experiment.settings = {{"client.messages", 16}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    ReportedCell cell;
    cell.state = CellState::done;
    cell.values = {5};
    cell.texts = "client 1";
    cell.seed = first_seed + i;
    cell.metrics = {{metric, values[i]}};
    experiment.cells.push_back(cell);
  }
  return experiment;
}

ComparedMetric compared(const std::string& metric, const std::vector<double>& first,
                        const std::vector<double>& second, std::uint64_t second_seed = 1) {
  const Comparison comparison =
      compare_experiments({with_values(metric, first)}, {with_values(metric, second, second_seed)});
  return comparison.experiments.at(0).groups.at(0).metrics.at(0);
}

TEST(Comparison, OfPairsByHand) {
  // Differences 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, error 0.1/sqrt(3) = 0.0577; t(2) = 4.303, so chance
  // reaches 0.248.
  const ComparedMetric close = compared("f1", {0.5, 0.4, 0.3}, {0.6, 0.6, 0.6});
  EXPECT_EQ(close.pairs, 3);
  EXPECT_NEAR(close.difference, 0.2, 1e-12);
  EXPECT_NEAR(*close.error, 0.1 / std::sqrt(3.0), 1e-12);
  EXPECT_EQ(close.verdict, Verdict::no_difference);
  // Differences 0.19, 0.20, 0.21: error 0.00577, chance reaches 0.0248. As independent sides the spread of
  // 0.1 would hide it.
  const ComparedMetric clear = compared("f1", {0.3, 0.4, 0.5}, {0.49, 0.6, 0.71});
  EXPECT_NEAR(*clear.error, 0.01 / std::sqrt(3.0), 1e-12);
  EXPECT_EQ(clear.verdict, Verdict::leaks_more);
  EXPECT_EQ(compared("f1", {0.3, 0.4, 0.5}, {0.49, 0.6, 0.71}, 10).verdict, Verdict::no_difference);
}

TEST(Comparison, OfIndependentSidesByHand) {
  // Means 0.2 and 0.8, deviations 0.1 each: error sqrt(0.01/3 + 0.01/3) = 0.0816, 4 degrees, t = 2.776:
  // 0.227.
  const ComparedMetric metric = compared("exact", {0.7, 0.8, 0.9}, {0.1, 0.2, 0.3}, 10);
  EXPECT_EQ(metric.pairs, 0);
  EXPECT_NEAR(metric.difference, -0.6, 1e-12);
  EXPECT_NEAR(*metric.error, std::sqrt(0.02 / 3), 1e-12);
  EXPECT_EQ(metric.verdict, Verdict::leaks_less);
  EXPECT_EQ(compared("exact", {0.5, 0.6, 0.7}, {0.3, 0.4, 0.5}, 10).verdict, Verdict::no_difference);  // 0.2
  EXPECT_EQ(compared("exact", {0.5, 0.6, 0.7}, {0.25, 0.35, 0.45}, 10).verdict, Verdict::leaks_less);  // 0.25
  // One side does not vary: 2 degrees by Welch, t = 4.303, error 0.0577: 0.248.
  EXPECT_EQ(compared("exact", {0.5, 0.6, 0.7}, {0.36, 0.36, 0.36}, 10).verdict, Verdict::no_difference);
  EXPECT_EQ(compared("exact", {0.5, 0.6, 0.7}, {0.34, 0.34, 0.34}, 10).verdict, Verdict::leaks_less);
}

TEST(Comparison, SaysWhatADirectionMeans) {
  const std::vector<double> low = {30, 31, 32}, high = {60, 61, 62};
  EXPECT_EQ(compared("perplexity_after", low, high).verdict, Verdict::worse);
  EXPECT_EQ(compared("perplexity_after", high, low).verdict, Verdict::better);
  EXPECT_EQ(compared("levenshtein", low, high).verdict, Verdict::leaks_more);
  EXPECT_EQ(compared("recovered", low, high).verdict, Verdict::larger);
  EXPECT_EQ(compared("recovered", high, low).verdict, Verdict::smaller);
}

TEST(Comparison, OneRepetitionHasNoSpread) {
  const ComparedMetric metric = compared("f1", {0.5}, {0.6});
  EXPECT_EQ(metric.verdict, Verdict::unknown_spread);
  EXPECT_NEAR(metric.difference, 0.1, 1e-12);
  EXPECT_FALSE(metric.error);
  EXPECT_EQ(compared("f1", {0.5}, {0.5}).verdict, Verdict::same);
  EXPECT_EQ(compared("f1", {0.5}, {0.6, 0.7, 0.8}).verdict, Verdict::unknown_spread);
  EXPECT_EQ(verdict_text(Verdict::unknown_spread), "one repetition: no spread known");
}

TEST(Comparison, ExactlyEqualIsTheSame) {
  EXPECT_EQ(compared("f1", {0.5, 0.6}, {0.5, 0.6}).verdict, Verdict::same);
  EXPECT_EQ(compared("f1", {0.1 + 0.2, 0.6}, {0.3, 0.6}).verdict, Verdict::same);  // rounding
  EXPECT_EQ(compared("f1", {0.5, 0.5}, {0.5, 0.5}, 10).verdict, Verdict::same);
  // Equal means of values that vary are not the same values.
  EXPECT_EQ(compared("f1", {0.5, 0.6}, {0.6, 0.5}, 10).verdict, Verdict::no_difference);
  // Without any spread on either side, every difference is beyond it.
  EXPECT_EQ(compared("f1", {0.5, 0.5}, {0.6, 0.6}, 10).verdict, Verdict::leaks_more);
}

TEST(Comparison, PairsOnlyWhatBothSidesHave) {
  // Seeds 1, 2, 3 against 2, 3, 4: two pairs, 0.4 -> 0.5 and 0.6 -> 0.7.
  const ComparedMetric metric = compared("f1", {0.1, 0.4, 0.6}, {0.5, 0.7, 0.9}, 2);
  EXPECT_EQ(metric.pairs, 2);
  EXPECT_NEAR(metric.difference, 0.1, 1e-12);
  EXPECT_NEAR(metric.first.mean, 1.1 / 3, 1e-12);  // the sides are shown whole
}

TEST(Comparison, InfiniteAndUndefinedNumbers) {
  EXPECT_EQ(compared("perplexity_after", {INFINITY, 1}, {INFINITY, 2}).verdict, Verdict::same);
  EXPECT_EQ(compared("perplexity_after", {1, 2}, {INFINITY, 2}).verdict, Verdict::worse);
  EXPECT_EQ(compared("perplexity_after", {1, 2}, {std::nan(""), 2}).verdict, Verdict::not_a_number);
}

TEST(Comparison, AnAxisMatchesAConstantSettingOfTheOtherSide) {
  ReportedExperiment narrow = with_values("f1", {0.5, 0.6});
  ReportedExperiment broad = with_values("f1", {0.5, 0.6, 0.7, 0.8});
  broad.axes = {"client.messages", "federation.epochs"};
  broad.settings.clear();
  for (std::size_t i = 0; i < 4; ++i) broad.cells[i].values = {i < 2 ? 16 : 64, 5};
  const ComparedExperiment both = compare_experiments({narrow}, {broad}).experiments.at(0);
  ASSERT_EQ(both.groups.size(), 1u);
  EXPECT_EQ(both.groups[0].metrics[0].verdict, Verdict::same);
  ASSERT_EQ(both.only_in_second.size(), 1u);
  EXPECT_EQ(both.only_in_second[0], (NamedValues{{"federation.epochs", 5}, {"client.messages", 64}}));

  narrow.settings.clear();  // nothing is known of its client
  const ComparedExperiment none = compare_experiments({narrow}, {broad}).experiments.at(0);
  EXPECT_TRUE(none.groups.empty());
  EXPECT_EQ(none.only_in_first.size(), 1u);
  EXPECT_EQ(none.only_in_second.size(), 2u);
}

TEST(Comparison, ListsWhatIsOnOneSideAndWhatFailed) {
  ReportedExperiment other = fixture::small_experiment();
  other.name = "other";
  ReportedExperiment changed = fixture::small_experiment();
  changed.cells[0].metrics.emplace_back("exact", 1);
  const Comparison comparison = compare_experiments({fixture::small_experiment(), other}, {changed});
  EXPECT_EQ(comparison.only_in_first, std::vector<std::string>{"other"});
  EXPECT_EQ(comparison.experiments.at(0).groups.at(0).only_in_second, std::vector<std::string>{"exact"});
  ASSERT_EQ(comparison.failures.size(), 3u);
  EXPECT_TRUE(comparison.failures[0].in_first);
  EXPECT_FALSE(comparison.failures[2].in_first);
  EXPECT_EQ(comparison.failures[0].error, "it broke");
  EXPECT_EQ(comparison.experiments[0].groups[1].first.failed, 1);
  const std::string text = comparison_table(comparison, false, 0);
  EXPECT_NE(text.find("only in first: experiment other"), std::string::npos) << text;
  EXPECT_NE(text.find("only in second: small, epochs 1: exact"), std::string::npos) << text;
  EXPECT_NE(text.find("failed in second: small, epochs 10, seed 2: it broke"), std::string::npos) << text;
}

TEST(ComparisonTable, PutsTheLargestChangesFirstAndCounts) {
  ReportedExperiment before = with_values("f1", {0.50, 0.51, 0.52}),
                     after = with_values("f1", {0.61, 0.61, 0.61});
  for (ReportedExperiment* experiment : {&before, &after}) {
    const bool later = experiment == &after;
    for (ReportedCell& cell : experiment->cells) {
      cell.metrics.emplace_back("exact", later ? 0.2 : 0.9);
      cell.metrics.emplace_back("word_f1", 0.7);
      cell.seconds = later ? 100 : 1;
    }
  }
  Comparison comparison = compare_experiments({before}, {after});
  comparison.first_name = "old";
  comparison.second_name = "new";
  std::istringstream stream(comparison_table(comparison, false, 0));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  EXPECT_EQ(lines.at(0), "one");
  EXPECT_EQ(lines.at(1), "where     metric                 old                new      difference  verdict");
  EXPECT_EQ(lines.at(3),
            "epochs 5  exact    0.900 ± 0.000 (3)  0.200 ± 0.000 (3)  −0.700 ± 0.000  leaks less");
  EXPECT_TRUE(lines.at(4).starts_with("epochs 5  F1")) << lines.at(4);
  EXPECT_TRUE(lines.at(4).ends_with("+0.100 ± 0.006  leaks more")) << lines.at(4);
  EXPECT_TRUE(lines.at(5).starts_with("epochs 5  seconds")) << lines.at(5);  // the cost of running comes last
  EXPECT_TRUE(lines.at(5).ends_with("worse")) << lines.at(5);
  EXPECT_EQ(lines.back(), "5 comparisons: 1 leak more, 1 leak less, 1 worse, 2 the same.");
}

TEST(ComparisonTable, KeepsWithinTheTerminalAndIsSafe) {
  auto other = fixture::hostile_experiments();
  for (auto& experiment : other)
    for (auto& cell : experiment.cells)
      for (auto& [name, value] : cell.metrics) value *= 0.5;
  const Comparison comparison = compare_experiments(fixture::hostile_experiments(), other);
  for (const int width : {200, 120, 80, 60, 40}) {
    std::istringstream stream(comparison_table(comparison, false, width));
    for (std::string line; std::getline(stream, line);) {
      ASSERT_LE(text_width(line), width) << line;
      for (const char c : line) ASSERT_GE(static_cast<unsigned char>(c), 0x20);
    }
  }
  EXPECT_NE(comparison_table(comparison, true, 100).find("\033[32m"), std::string::npos);
}

TEST(ComparisonTable, WarnsOfChanceAmongMany) {
  const auto experiments = fixture::experiments();
  auto other = experiments;
  for (auto& experiment : other)
    for (std::size_t i = 0; i < experiment.cells.size(); ++i)
      for (auto& [name, value] : experiment.cells[i].metrics)
        value *= 1 + 0.01 * std::sin(static_cast<double>(i));
  EXPECT_NE(comparison_table(compare_experiments(experiments, other), false, 0).find("by chance"),
            std::string::npos);
}

TEST(ComparisonTable, OfTheSameIsOneLine) {
  const auto experiments = fixture::experiments();
  auto without_failures = experiments;
  without_failures.erase(without_failures.begin());
  const std::string text =
      comparison_table(compare_experiments(without_failures, without_failures), false, 0);
  EXPECT_TRUE(text.ends_with(" comparisons: 0 leak more, 0 leak less, " + text.substr(0, text.find(' ')) +
                             " the same.\n"))
      << text;
  EXPECT_EQ(comparison_table(compare_experiments({}, {}), false, 0),
            "Nothing to compare: no group has numbers on both sides.\n");
}

TEST(ComparisonJson, HoldsEverything) {
  const auto object =
      comparison_json(compare_experiments({fixture::small_experiment()}, {fixture::small_experiment()}));
  const auto& group = object["experiments"][0]["groups"][0];
  EXPECT_EQ(group["values"]["federation.epochs"], 1);
  EXPECT_EQ(group["metrics"][0]["metric"], "f1");
  EXPECT_EQ(group["metrics"][0]["first"]["n"], 3);
  EXPECT_EQ(group["metrics"][0]["verdict"], "the same");
  EXPECT_EQ(group["metrics"][0]["pairs"], 3);
  EXPECT_EQ(object["verdicts"]["the same"], 6);
  EXPECT_EQ(object["failures"].size(), 2u);
  EXPECT_EQ(object["failures"][1]["side"], "second");
}

}  // namespace
}  // namespace undertext
