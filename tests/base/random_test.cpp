#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/threads.h"

namespace undertext {
namespace {

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0, largest = 0;
};

template <typename T>
Moments moments_of(const std::vector<T>& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (const T v : values) m.mean += v / n;
  double second = 0, third = 0, fourth = 0;
  for (const T v : values) {
    const double d = v - m.mean;
    second += d * d / n;
    third += d * d * d / n;
    fourth += d * d * d * d / n;
    m.largest = std::max(m.largest, std::abs(static_cast<double>(v)));
  }
  m.variance = second;
  m.skewness = third / std::pow(second, 1.5);
  m.kurtosis = fourth / (second * second);
  return m;
}

// Bounds of five standard errors: 1, sqrt 2, sqrt 6 and sqrt 24 over sqrt n.
void expect_standard_normal(const Moments& m, double n) {
  EXPECT_NEAR(m.mean, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(m.variance, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(m.skewness, 0, 5 * std::sqrt(6 / n));
  EXPECT_NEAR(m.kurtosis, 3, 5 * std::sqrt(24 / n));
}

double correlation(const float* a, const float* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum / static_cast<double>(n);
}

std::vector<float> noise(Seed seed, std::int64_t n, float scale = 1) {
  std::vector<float> values(static_cast<std::size_t>(n), 0.0f);
  add_normal_noise(seed, scale, values.data(), n);
  return values;
}

TEST(Seed, DerivationIsAPureFunction) {
  const Seed root(7);
  const std::uint64_t first = root.derive("noise").derive(3).value();
  root.derive("other");
  EXPECT_EQ(root.derive("noise").derive(3).value(), first);
  EXPECT_EQ(Seed(7).derive("noise").derive(3).value(), first);
}

TEST(Seed, EveryPathGivesItsOwnSeed) {
  std::set<std::uint64_t> seen;
  int count = 0;
  const auto add = [&](Seed seed) {
    seen.insert(seed.value());
    ++count;
  };
  for (std::uint64_t value = 0; value < 50; ++value) {
    const Seed root(value);
    add(root);
    for (const char* name : {"", "a", "b", "ab", "ba", "aa", "noise", "client"}) add(root.derive(name));
    add(root.derive(std::string_view("\0", 1)));
    for (std::uint64_t i = 0; i < 100; ++i) add(root.derive(i));
    add(root.derive("a").derive("b"));
    add(root.derive("b").derive("a"));
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
}

TEST(Random, SameSeedSameDraws) {
  Random a(Seed(5)), b(Seed(5)), c(Seed(6));
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t draw = a.next();
    EXPECT_EQ(draw, b.next());
    EXPECT_NE(draw, c.next());
  }
}

// Results that people published must come out again: these values may never change.
TEST(Random, DrawsAreFixedForever) {
  Random random(Seed(1).derive("fixed"));
  const std::uint64_t first = random.next(), second = random.next();
  EXPECT_EQ(first, 12195833069661591010u);
  EXPECT_EQ(second, 16169243564032807542u);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  Random random(Seed(2));
  constexpr int kDraws = 200'000, kCells = 20;
  std::vector<int> cells(kCells);
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++cells[static_cast<std::size_t>(u * kCells)];
  }
  double chi_squared = 0;
  for (const int cell : cells) chi_squared += std::pow(cell - kDraws / kCells, 2) / (kDraws / kCells);
  EXPECT_LT(chi_squared, 50);  // 19 degrees of freedom: above 50 with probability 1e-4
}

TEST(Random, BelowIsUnbiasedAndStaysBelow) {
  Random random(Seed(3));
  EXPECT_EQ(random.below(1), 0u);
  std::vector<int> cells(7);
  for (int i = 0; i < 70'000; ++i) ++cells.at(random.below(7));
  for (const int cell : cells) EXPECT_NEAR(cell, 10'000, 500);
  // A bound just above half of the range: taking remainders would give the lower half twice as often.
  const std::uint64_t bound = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  int low = 0;
  for (int i = 0; i < 30'000; ++i) low += random.below(bound) < bound / 3;
  EXPECT_NEAR(low, 10'000, 500);
}

TEST(Random, NormalIsStandardNormal) {
  Random random(Seed(4));
  std::vector<double> values(200'000);
  for (double& value : values) value = random.normal();
  expect_standard_normal(moments_of(values), 200'000);
}

TEST(NormalNoise, IsStandardNormal) {
  constexpr std::int64_t kCount = 4'000'000;
  const std::vector<float> values = noise(Seed(11), kCount);
  const Moments m = moments_of(values);
  expect_standard_normal(m, kCount);
  EXPECT_GT(m.largest, 4.7);  // the largest of 4 million lies near 5.2
  EXPECT_LT(m.largest, 6.6);

  // The distribution function at a few points, to five standard errors.
  for (const double z : {-3.0, -2.0, -1.0, -0.1, 0.0, 0.01, 0.5, 1.5, 2.5, 4.0}) {
    double below = 0;
    for (const float v : values) below += v < z;
    const double p = 0.5 * std::erfc(-z / std::sqrt(2.0));
    EXPECT_NEAR(below / kCount, p, 5 * std::sqrt(p * (1 - p) / kCount)) << z;
  }
}

TEST(NormalNoise, NeighboursAndPairsAreIndependent) {
  constexpr std::int64_t kCount = 1 << 20;
  const std::vector<float> values = noise(Seed(12), kCount);
  const double bound = 5 / std::sqrt(static_cast<double>(kCount));
  // 128: the two normals of one draw lie that far apart.
  for (const std::int64_t lag : {1, 2, 7, 64, 127, 128, 129, 256, 65536}) {
    EXPECT_NEAR(correlation(values.data(), values.data() + lag, kCount - lag), 0, bound) << lag;
  }
  // Also of the squares: a shared radius would show there.
  std::vector<float> squares(values);
  for (float& v : squares) v = v * v - 1;
  for (const std::int64_t lag : {1, 128, 256}) {
    EXPECT_NEAR(correlation(squares.data(), squares.data() + lag, kCount - lag), 0, 2 * bound) << lag;
  }
  const std::vector<float> other = noise(Seed(13), kCount);
  EXPECT_NEAR(correlation(values.data(), other.data(), kCount), 0, bound);
}

TEST(NormalNoise, ElementsDependOnSeedAndPlaceAlone) {
  const std::vector<float> whole = noise(Seed(21), 100'000);
  for (const std::int64_t n : {1, 2, 127, 128, 129, 255, 256, 257, 65535, 65536, 65537, 99'999}) {
    const std::vector<float> part = noise(Seed(21), n);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << n;
  }
  add_normal_noise(Seed(21), 1, nullptr, 0);
}

TEST(NormalNoise, IsTheSameForAnyNumberOfThreads) {
  set_threads(1);
  const std::vector<float> one = noise(Seed(22), 1'000'001);
  for (const int count : {2, 3, 8}) {
    set_threads(count);
    EXPECT_EQ(noise(Seed(22), 1'000'001), one) << count;
  }
  set_threads(0);
}

TEST(NormalNoise, AddsAndScales) {
  const std::vector<float> z = noise(Seed(23), 1000);
  std::vector<float> values(1000, 3.0f);
  add_normal_noise(Seed(23), 0.5f, values.data(), 1000);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_FLOAT_EQ(values[i], 3.0f + 0.5f * z[i]);
}

}  // namespace
}  // namespace undertext
