#include "base/quantile.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(DeviationAroundZero, IgnoresAFewLargeValues) {
  // The quartiles of a normal distribution lie .6745 deviations from its centre.
  EXPECT_NEAR(deviation_around_zero({-.6745, .6745, -.1, 1000, .3, -2, .6745}), 1, 1e-3);
}

}  // namespace
}  // namespace undertext
