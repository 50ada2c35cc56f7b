#include "base/transport.h"

#include <gtest/gtest.h>

#include "base/assignment.h"
#include "base/random.h"

namespace undertext {
namespace {

double sum_of(const Matrix<float>& costs, const std::vector<std::int64_t>& column_of) {
  double sum = 0;
  for (std::int64_t i = 0; i < costs.rows; ++i) sum += costs(i, column_of[static_cast<std::size_t>(i)]);
  return sum;
}

TEST(Transport, FillsTheCheapestColumnAndMovesWhoLosesLeast) {
  Matrix<float> costs(3, 2);
  costs.data = {0, 10, 0, 1, 0, 5};
  EXPECT_EQ(solve_transport(costs, std::vector<std::int64_t>{2, 1}), (std::vector<std::int64_t>{0, 1, 0}));
  EXPECT_EQ(solve_transport(costs, std::vector<std::int64_t>{3, 0}), (std::vector<std::int64_t>{0, 0, 0}));
}

// A column that takes c rows is c columns that take one.
TEST(Transport, CostsWhatTheAssignmentWithCopiesCosts) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    Random random(Seed(5).derive(trial));
    const auto rows = static_cast<std::int64_t>(1 + random.below(40));
    const auto columns = static_cast<std::int64_t>(1 + random.below(12));
    std::vector<std::int64_t> capacity(static_cast<std::size_t>(columns)), owner;
    std::int64_t total = 0;
    for (std::int64_t& c : capacity) total += c = static_cast<std::int64_t>(random.below(6));
    const bool tight = trial % 2 == 0;
    while (total < rows + (tight ? 0 : 5)) {
      ++capacity[random.below(static_cast<std::uint64_t>(columns))];
      ++total;
    }
    for (std::size_t j = 0; j < capacity.size(); ++j)
      for (std::int64_t c = 0; c < capacity[j]; ++c) owner.push_back(static_cast<std::int64_t>(j));
    Matrix<float> costs(rows, columns);
    for (float& cost : costs.data)
      cost = trial % 3 == 0 ? static_cast<float>(random.below(4)) : static_cast<float>(random.normal());
    std::vector<double> copies;
    for (std::int64_t i = 0; i < rows; ++i)
      for (const std::int64_t j : owner) copies.push_back(costs(i, j));
    const auto copy_of = solve_assignment(copies, rows, total);
    std::vector<std::int64_t> expected;
    for (const std::int64_t copy : copy_of) expected.push_back(owner[static_cast<std::size_t>(copy)]);

    const std::vector<std::int64_t> found = solve_transport(costs, capacity);
    EXPECT_NEAR(sum_of(costs, found), sum_of(costs, expected), 1e-4) << trial;
    std::vector<std::int64_t> used(capacity.size());
    for (const std::int64_t j : found) ++used[static_cast<std::size_t>(j)];
    for (std::size_t j = 0; j < used.size(); ++j) EXPECT_LE(used[j], capacity[j]);
  }
}

TEST(Transport, NobodyToPlace) {
  EXPECT_TRUE(solve_transport(Matrix<float>(0, 3), std::vector<std::int64_t>{1, 0, 2}).empty());
}

}  // namespace
}  // namespace undertext
