// The readout's parts, one by one.
#include <gtest/gtest.h>

#include <cmath>

#include "attacks/decepticons/constrained_means.h"
#include "attacks/decepticons/correlation.h"
#include "attacks/decepticons/edges.h"
#include "attacks/decepticons/match_tokens.h"
#include "attacks/decepticons/place_rows.h"

namespace undertext {
namespace {

Matrix<float> normal_rows(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Matrix<float> out(rows, cols);
  add_normal_noise(Seed(seed), 1, out.data.data(), rows * cols);
  return out;
}

TEST(Edges, AreTheQuantilesOfANormalDistribution) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-9);
  EXPECT_NEAR(normal_quantile(1e-5), -4.264890793922825, 1e-9);
  const std::vector<double> edges = normal_edges(3, 2, 4);
  ASSERT_EQ(edges.size(), 4u);
  EXPECT_LT(edges[0], 3 - 2 * 9.9);
  EXPECT_NEAR(edges[1], 3 + 2 * normal_quantile(0.25), 1e-12);
  EXPECT_NEAR(edges[2], 3, 1e-12);
}

TEST(Correlation, IsPearsons) {
  Matrix<float> a(2, 4);
  a.data = {1, 2, 3, 4, 5, 5, 5, 5};
  Matrix<float> b(1, 4);
  b.data = {2, 1, 4, 3};
  const Matrix<float> fit =
      correlations(standardised(a.data.data(), 2, 4, 0, 4), standardised(b.data.data(), 1, 4, 0, 4));
  EXPECT_NEAR(fit(0, 0), 0.6, 1e-6);
  EXPECT_EQ(fit(1, 0), 0) << "a constant correlates with nothing";
}

TEST(Clusters, StayWithinTheirCapacity) {
  // 30 points near one center and 6 near another: at most 18 fit into a cluster.
  Matrix<float> points(36, 3);
  add_normal_noise(Seed(4), 0.1f, points.data.data(), 108);
  for (std::int64_t i = 30; i < 36; ++i) points(i, 0) += 10;
  const std::vector<std::int64_t> cluster = cluster_within(points, {.clusters = 2, .capacity = 18});
  ASSERT_EQ(cluster.size(), 36u);
  EXPECT_EQ(std::ranges::count(cluster, 0), 18);
  EXPECT_EQ(std::ranges::count(cluster, 1), 18);
  for (std::size_t i = 31; i < 36; ++i) EXPECT_EQ(cluster[i], cluster[30]);
}

TEST(Clusters, AreThoseThatWereMade) {
  constexpr std::int64_t kClusters = 12, kEach = 9;
  const Matrix<float> centers = normal_rows(kClusters, 5, 6);
  Matrix<float> points(kClusters * kEach, 5);
  add_normal_noise(Seed(8), 0.01f, points.data.data(), points.rows * 5);
  for (std::int64_t i = 0; i < points.rows; ++i)
    for (std::int64_t j = 0; j < 5; ++j) points(i, j) += centers(i % kClusters, j);
  const std::vector<std::int64_t> cluster =
      cluster_within(points, {.clusters = kClusters, .capacity = kEach + 2});
  for (std::int64_t i = kClusters; i < points.rows; ++i)
    EXPECT_EQ(cluster[static_cast<std::size_t>(i)], cluster[static_cast<std::size_t>(i % kClusters)]);
}

TEST(Clusters, TakePointsThatAreAllTheSame) {
  const Matrix<float> points(10, 2, 1.0f);
  const std::vector<std::int64_t> cluster = cluster_within(points, {.clusters = 5, .capacity = 2});
  for (std::int64_t c = 0; c < 5; ++c) EXPECT_EQ(std::ranges::count(cluster, c), 2);
  EXPECT_TRUE(cluster_within(Matrix<float>(0, 2), {.clusters = 3, .capacity = 1}).empty());
}

TEST(Places, AreAssignedAndThenFilledAgain) {
  const Matrix<float> raw = normal_rows(4, 30, 9);
  const Matrix<float> places = standardised(raw.data.data(), 4, 30, 0, 30);
  Matrix<float> rows(3, 30);  // the places 2, 0 of sequence 0, and 3 of sequence 1
  for (std::int64_t j = 0; j < 30; ++j) {
    rows(0, j) = places(2, j);
    rows(1, j) = places(0, j);
    rows(2, j) = places(3, j);
  }
  const std::vector<Slot> slots = place_rows(rows, {0, 0, 1}, 3, places);
  ASSERT_EQ(slots.size(), 12u);
  EXPECT_EQ(slots[2].row, 0);
  EXPECT_EQ(slots[0].row, 1);
  EXPECT_FALSE(slots[0].repeated);
  EXPECT_TRUE(slots[1].repeated && slots[1].row >= 0 && slots[1].row < 2);
  EXPECT_TRUE(slots[3].repeated && slots[3].row >= 0 && slots[3].row < 2);
  for (std::size_t p = 4; p < 8; ++p) EXPECT_EQ(slots[p].row, 2);
  for (std::size_t p = 8; p < 12; ++p) EXPECT_EQ(slots[p].row, -1) << "nothing is known of this sequence";
}

class Tokens : public testing::Test {
 protected:
  Tokens() : embedding_(normal_rows(40, 26, 10)) { view_ = {embedding_.data.data(), 40, 26, 2, 25}; }
  Matrix<float> contents(const std::vector<Token>& tokens, float noise) {
    Matrix<float> out(static_cast<std::int64_t>(tokens.size()), 23);
    add_normal_noise(Seed(11), noise, out.data.data(), out.rows * 23);
    for (std::int64_t i = 0; i < out.rows; ++i) {
      for (std::int64_t j = 0; j < 23; ++j)
        out(i, j) += embedding_(tokens[static_cast<std::size_t>(i)], j + 2);
      standardise(out.row(i), 23);
    }
    return out;
  }
  Matrix<float> embedding_;
  EmbeddingView view_;
};

TEST_F(Tokens, AreUsedAsOftenAsTheirCountSays) {
  const std::vector<Token> truth = {5, 7, 5, 9, 30};
  EXPECT_EQ(match_tokens(contents(truth, 0.1f), {{5, 7, 9, 30}, {2, 1, 1, 1}}, view_, 0), truth);
  std::vector<Token> found = match_tokens(contents(truth, 0.1f), {{5, 7, 9, 30}, {1, 2, 1, 1}}, view_, 0);
  EXPECT_EQ(std::ranges::count(found, 5), 1);
  EXPECT_EQ(std::ranges::count(found, 7), 2);
}

TEST_F(Tokens, OutsideOfTheBagAreFoundWhereTheBagFits) {
  const std::vector<Token> truth = {5, 17};
  const TokenBag bag{{5, 7}, {1, 1}};
  EXPECT_EQ(match_tokens(contents(truth, 0.01f), bag, view_, 0), (std::vector<Token>{5, 7}));
  const float others = correlations(contents({17}, 0), contents({7}, 0))(0, 0);
  ASSERT_LT(std::abs(others), 0.6f);
  EXPECT_EQ(match_tokens(contents(truth, 0.01f), bag, view_, 0.9f), truth);
}

}  // namespace
}  // namespace undertext
