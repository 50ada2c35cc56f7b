#include "report/metric_info.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/value_labels.h"

namespace undertext {
namespace {

TEST(MetricInfo, KnowsWhatLargerMeans) {
  EXPECT_EQ(metric_info("exact").larger, LargerMeans::more_leak);
  EXPECT_EQ(metric_info("levenshtein").kind, MetricKind::ratio);
  EXPECT_EQ(metric_info("perplexity_after").larger, LargerMeans::worse);
  EXPECT_EQ(metric_info("seconds").larger, LargerMeans::worse);
  EXPECT_EQ(metric_info("truth").larger, LargerMeans::neither);
}

TEST(MetricInfo, ShowsWhatItDoesNotKnowUnderItsOwnName) {
  const MetricInfo info = metric_info("nerr");
  EXPECT_EQ(info.label, "nerr");
  EXPECT_EQ(info.kind, MetricKind::number);
  EXPECT_EQ(info.larger, LargerMeans::neither);
}

TEST(MetricInfo, OrdersNames) {
  EXPECT_EQ(in_metric_order({"b", "seconds", "exact", "a", "f1", "exact"}),
            (std::vector<std::string>{"f1", "exact", "seconds", "a", "b"}));
}

TEST(MetricText, ByKind) {
  EXPECT_EQ(metric_text(MetricKind::fraction, 0.99999), "0.999");
  EXPECT_EQ(metric_text(MetricKind::ratio, 98.44), "98.4");
  EXPECT_EQ(metric_text(MetricKind::perplexity, 31.24), "31.2");
  EXPECT_EQ(metric_text(MetricKind::count, 17), "17");
  EXPECT_EQ(metric_text(MetricKind::count, 17.333), "17.3");
  EXPECT_EQ(metric_text(MetricKind::seconds, 0.001), "<0.01");
  EXPECT_EQ(metric_text(MetricKind::seconds, 1.5), "1.50");
  EXPECT_EQ(metric_text(MetricKind::seconds, 72.34), "72.3");
  EXPECT_EQ(metric_text(MetricKind::bytes, 512), "512 B");
  EXPECT_EQ(metric_text(MetricKind::bytes, 1.93e9), "1.9 GB");
  EXPECT_EQ(metric_text(MetricKind::bytes, 999.7e6), "1.0 GB");
  EXPECT_EQ(metric_text(MetricKind::number, 0.00012345), "0.0001234");
  EXPECT_EQ(metric_text(MetricKind::perplexity, INFINITY), "∞");
}

TEST(MetricText, SpreadsAndDifferences) {
  EXPECT_EQ(spread_text(MetricKind::fraction, 0), "0.000");
  EXPECT_EQ(spread_text(MetricKind::fraction, 0.0001), "<0.001");
  EXPECT_EQ(spread_text(MetricKind::fraction, 0.1), "0.100");
  EXPECT_EQ(spread_text(MetricKind::ratio, 12.34), "12.3");
  EXPECT_EQ(difference_text(MetricKind::fraction, 1), "+1.000");
  EXPECT_EQ(difference_text(MetricKind::fraction, -0.9999), "−1.000");
  EXPECT_EQ(difference_text(MetricKind::fraction, 0), "0.000");
  EXPECT_EQ(difference_text(MetricKind::ratio, 2.5), "+2.5");
}

TEST(ValueLabels, AreTheLastPartWhereThatIsEnough) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(value_labels({"federation.epochs", "client.learning_rate"}), (Names{"epochs", "learning rate"}));
  EXPECT_EQ(value_labels({"defence.name", "defence.sigma"}), (Names{"defence", "sigma"}));
  EXPECT_EQ(value_labels({"attack.method", "defence.method", "epochs"}),
            (Names{"attack method", "defence method", "epochs"}));
  EXPECT_EQ(value_labels({"", ".", "a..b"}), (Names{"", ".", "b"}));
  EXPECT_EQ(value_labels({"x", "x"}), (Names{"x", "x"}));
}

TEST(ValueText, OfNumbersTextsAndTruthValues) {
  EXPECT_EQ(value_text(16), "16");
  EXPECT_EQ(value_text(0.001), "0.001");
  EXPECT_EQ(value_text(1e-7), "1e-07");
  EXPECT_EQ(value_text(true), "yes");
  EXPECT_EQ(value_text("noise"), "noise");
  EXPECT_EQ(value_text(nullptr), "–");
  EXPECT_EQ(value_key(1), value_key(1.0));
  EXPECT_NE(value_key(1), value_key("1"));
  EXPECT_NE(value_key(true), value_key("true"));
}

}  // namespace
}  // namespace undertext
