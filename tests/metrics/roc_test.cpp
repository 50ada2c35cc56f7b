#include "metrics/roc.h"

#include <gtest/gtest.h>

#include <vector>

namespace undertext {
namespace {

using Judged = std::vector<JudgedRecovery>;

TEST(AreaUnderCurve, OfOrderedPairs) {
  EXPECT_EQ(area_under_curve(Judged{{.9, true}, {.8, true}, {.1, false}}), 1);
  EXPECT_EQ(area_under_curve(Judged{{.1, true}, {.8, false}}), 0);
  // Right .9 and .3, wrong .5 and .1: three of the four pairs are in order.
  EXPECT_EQ(area_under_curve(Judged{{.9, true}, {.3, true}, {.5, false}, {.1, false}}), .75);
}

TEST(AreaUnderCurve, CountsTiesHalf) {
  EXPECT_EQ(area_under_curve(Judged{{.5, true}, {.5, false}}), .5);
  EXPECT_EQ(area_under_curve(Judged{{.5, true}, {.5, false}, {.7, true}}), .75);
}

TEST(AreaUnderCurve, NeedsBoth) {
  EXPECT_FALSE(area_under_curve(Judged{}));
  EXPECT_FALSE(area_under_curve(Judged{{.5, true}}));
  EXPECT_FALSE(area_under_curve(Judged{{.5, false}, {.1, false}}));
}

}  // namespace
}  // namespace undertext
