#include "base/ranks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace undertext {
namespace {

using Values = std::vector<double>;

TEST(AverageRanks, ShareWhatEqualValuesTakeUp) {
  EXPECT_EQ(average_ranks(Values{30, 10, 20}), (Values{3, 1, 2}));
  EXPECT_EQ(average_ranks(Values{5, 1, 5, 5, 0}), (Values{4, 2, 4, 4, 1}));
  EXPECT_EQ(average_ranks(Values{2, 2}), (Values{1.5, 1.5}));
  EXPECT_EQ(average_ranks(Values{}), Values{});
  EXPECT_EQ(average_ranks_from_top(Values{5, 1, 5, 5, 0}), (Values{2, 4, 2, 2, 5}));
  EXPECT_EQ(average_ranks(Values{-INFINITY, 3, -INFINITY}), (Values{1.5, 3, 1.5}));
}

TEST(RankCorrelation, WithoutTiesIsTheFormulaOfSquaredDifferences) {
  // Squared differences of ranks 4, 1, 1, 1, 1: 1 - 6 * 8 / (5 * 24).
  EXPECT_NEAR(rank_correlation(Values{1, 2, 3, 4, 5}, Values{30, -1, 2, 40, 39}), 0.6, 1e-12);
  EXPECT_NEAR(rank_correlation(Values{1, 2, 3}, Values{0, 1, 100}), 1, 1e-12);
  EXPECT_NEAR(rank_correlation(Values{1, 2, 3}, Values{9, 1, 0}), -1, 1e-12);
}

TEST(RankCorrelation, WithTiesIsThatOfTheAverageRanks) {
  // Ranks 1, 2, 3, 4 and 1.5, 1.5, 3.5, 3.5: deviations give 4 / sqrt(5 * 4).
  EXPECT_NEAR(rank_correlation(Values{-3, -1, 2, 9}, Values{-1, -1, 1, 1}), 4 / std::sqrt(20.0), 1e-12);
  // Ranks 1, 2.5, 2.5, 4 and 2, 1, 4, 3: deviations give 1.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(rank_correlation(Values{0, 7, 7, 8}, Values{2, 1, 9, 3}), 1.5 / std::sqrt(22.5), 1e-12);
}

TEST(RankCorrelation, AgainstHalfAndHalfStaysBelowSevenEighths) {
  Values x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(i);
    y.push_back(i < 500 ? -1 : 1);
  }
  EXPECT_NEAR(rank_correlation(x, y), std::sqrt(0.75), 1e-5);
}

TEST(RankCorrelation, IsZeroWhereNothingVaries) {
  EXPECT_EQ(rank_correlation(Values{1, 1, 1}, Values{1, 2, 3}), 0);
  EXPECT_EQ(rank_correlation(Values{1, 2, 3}, Values{4, 4, 4}), 0);
  EXPECT_EQ(rank_correlation(Values{1}, Values{2}), 0);
  EXPECT_EQ(rank_correlation(Values{}, Values{}), 0);
}

TEST(Correlation, ByHand) {
  // Deviations -1, 0, 1 and -2, 1, 1: 3 / sqrt(2 * 6).
  EXPECT_NEAR(correlation(Values{1, 2, 3}, Values{1, 4, 4}), 3 / std::sqrt(12.0), 1e-12);
}

}  // namespace
}  // namespace undertext
