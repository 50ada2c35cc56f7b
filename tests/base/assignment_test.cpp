#include "base/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "base/random.h"

namespace undertext {
namespace {

// The least cost over every way to give the rows different columns (rows <= columns).
double brute_force(const std::vector<double>& costs, int rows, int columns) {
  std::vector<int> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  double best = std::numeric_limits<double>::infinity();
  do {
    double sum = 0;
    for (int i = 0; i < rows; ++i)
      sum += costs[static_cast<std::size_t>(i * columns + order[static_cast<std::size_t>(i)])];
    best = std::min(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

std::vector<double> transpose(const std::vector<double>& costs, int rows, int columns) {
  std::vector<double> out(costs.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      out[static_cast<std::size_t>(j * rows + i)] = costs[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return out;
}

// Sum of the assigned costs; checks that the assignment is one-to-one and as large as it can be.
double cost_of(const std::vector<double>& costs, int rows, int columns) {
  const std::vector<std::int64_t> column_of = solve_assignment(costs, rows, columns);
  EXPECT_EQ(column_of.size(), static_cast<std::size_t>(rows));
  std::set<std::int64_t> used;
  double sum = 0;
  for (std::size_t i = 0; i < column_of.size(); ++i) {
    if (column_of[i] < 0) continue;
    EXPECT_LT(column_of[i], columns);
    EXPECT_TRUE(used.insert(column_of[i]).second);
    sum += costs[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column_of[i])];
  }
  EXPECT_EQ(used.size(), static_cast<std::size_t>(std::min(rows, columns)));
  return sum;
}

TEST(Assignment, HandComputed) {
  // Greedy takes 1 + 9 + 7; the best is 2 + 3 + 4.
  EXPECT_EQ(solve_assignment(std::vector<double>{1, 2, 8, 3, 9, 9, 7, 6, 4}, 3, 3),
            (std::vector<std::int64_t>{1, 0, 2}));
}

TEST(Assignment, Degenerate) {
  EXPECT_TRUE(solve_assignment({}, 0, 0).empty());
  EXPECT_TRUE(solve_assignment({}, 0, 5).empty());
  EXPECT_EQ(solve_assignment({}, 2, 0), (std::vector<std::int64_t>{-1, -1}));
  EXPECT_EQ(solve_assignment(std::vector<double>{5, -3}, 1, 2), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(solve_assignment(std::vector<double>{5, -3}, 2, 1), (std::vector<std::int64_t>{-1, 0}));
}

TEST(Assignment, AgreesWithBruteForce) {
  Random random{Seed(11)};
  for (int trial = 0; trial < 600; ++trial) {
    const int columns = 1 + static_cast<int>(random.below(7));
    const int rows = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(columns)));
    std::vector<double> costs(static_cast<std::size_t>(rows * columns));
    // A third each: reals, few distinct integers (many ties), negative reals.
    for (double& cost : costs) {
      cost = trial % 3 == 0   ? random.uniform()
             : trial % 3 == 1 ? static_cast<double>(random.below(3))
                              : -100 * random.uniform();
    }
    const double best = brute_force(costs, rows, columns);
    EXPECT_NEAR(cost_of(costs, rows, columns), best, 1e-9);
    EXPECT_NEAR(cost_of(transpose(costs, rows, columns), columns, rows), best, 1e-9);
  }
}

// A matrix whose best assignment is known: reduced costs >= 0 with a hidden permutation of zeros, then
// disguised by random prices of rows and columns.
TEST(Assignment, FindsAHiddenPermutationOfAThousand) {
  constexpr std::size_t n = 1000;
  Random random{Seed(3)};
  std::vector<std::size_t> hidden(n);
  std::iota(hidden.begin(), hidden.end(), std::size_t{0});
  for (std::size_t i = n - 1; i > 0; --i) std::swap(hidden[i], hidden[random.below(i + 1)]);
  std::vector<double> row_price(n), column_price(n), costs(n * n);
  for (double& price : row_price) price = static_cast<double>(random.below(1000));
  for (double& price : column_price) price = static_cast<double>(random.below(1000));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      costs[i * n + j] =
          row_price[i] + column_price[j] + (hidden[i] == j ? 0 : 1 + static_cast<double>(random.below(50)));
    }
  }
  const std::vector<std::int64_t> column_of = solve_assignment(costs, n, n);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(column_of[i], static_cast<std::int64_t>(hidden[i]));
}

}  // namespace
}  // namespace undertext
