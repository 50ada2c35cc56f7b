#include "models/fast_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace undertext {
namespace {

// The largest relative error over floats spread evenly over [from, to].
double worst(float from, float to, const std::function<float(float)>& fast,
             const std::function<double(double)>& exact) {
  double result = 0;
  const int steps = 400'000;
  for (int i = 0; i <= steps; ++i) {
    const float x = from + (to - from) * static_cast<float>(i) / steps;
    if (x == 0) continue;
    const double wanted = exact(x);
    result = std::max(result, std::abs(fast(x) - wanted) / std::abs(wanted));
  }
  return result;
}

TEST(FastMath, ExponentialIsAccurateOverItsRange) {
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LT(worst(-87, 88, fast_exp, exact), 3e-7);
  EXPECT_LT(worst(-1, 1, fast_exp, exact), 3e-7);
  EXPECT_EQ(fast_exp(0), 1.0f);
}

TEST(FastMath, ExponentialIsClampedToNormalNumbers) {
  EXPECT_EQ(fast_exp(-1000), fast_exp(-87));
  EXPECT_GE(fast_exp(-1000), std::numeric_limits<float>::min());
  EXPECT_TRUE(std::isfinite(fast_exp(1000)));
}

TEST(FastMath, SigmoidIsAccurateWhereItIsSmallToo) {
  const auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(worst(-80, 80, fast_sigmoid, exact), 3e-7);
  EXPECT_LT(worst(-4, 4, fast_sigmoid, exact), 3e-7);
}

TEST(FastMath, HyperbolicTangentIsAccurateNearZeroToo) {
  const auto exact = [](double x) { return std::tanh(x); };
  for (const float range : {20.0f, 1.0f, 0.551f, 1e-3f, 1e-12f})
    EXPECT_LT(worst(-range, range, fast_tanh, exact), 3e-7) << range;
  EXPECT_EQ(fast_tanh(0), 0.0f);
  EXPECT_EQ(fast_tanh(100), 1.0f);
  EXPECT_EQ(fast_tanh(-100), -1.0f);
}

TEST(FastMath, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(fast_exp(nan)));
  EXPECT_TRUE(std::isnan(fast_sigmoid(nan)));
  EXPECT_TRUE(std::isnan(fast_tanh(nan)));
}

}  // namespace
}  // namespace undertext
