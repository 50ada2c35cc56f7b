#include "attacks/nnls.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace undertext {
namespace {

TEST(Nnls, HandComputed) {
  // min (x - 1)^2 / 2 + (y + 1)^2 / 2 over x, y >= 0: x = 1, y = 0.
  Matrix<double> g(2, 2);
  g(0, 0) = g(1, 1) = 1;
  const std::vector<double> x = solve_nnls(g, {1, -1}, 0);
  EXPECT_NEAR(x[0], 1, 1e-12);
  EXPECT_EQ(x[1], 0);
}

// Random problems, some with more variables than equations: the solution must satisfy the optimality
// conditions x >= 0, G x - c >= 0, and their product zero.
TEST(Nnls, OptimalOnRandomProblems) {
  Random random(Seed(5));
  for (int trial = 0; trial < 20; ++trial) {
    const std::int64_t m = 5 + trial * 4, rows = 30;
    Matrix<double> a(rows, m);
    for (double& value : a.data) value = random.normal();
    std::vector<double> b(static_cast<std::size_t>(rows)), c(static_cast<std::size_t>(m), 0.0);
    for (double& value : b) value = random.normal();
    Matrix<double> g(m, m);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t r = 0; r < rows; ++r) {
        c[i] += a(r, i) * b[r];
        for (std::int64_t j = 0; j < m; ++j) g(i, j) += a(r, i) * a(r, j);
      }
    const std::vector<double> x = solve_nnls(g, c, 1e-10);
    for (std::int64_t i = 0; i < m; ++i) {
      double y = -c[i];
      for (std::int64_t j = 0; j < m; ++j) y += g(i, j) * x[j];
      EXPECT_GE(x[i], 0);
      EXPECT_GE(y, -1e-5) << "trial " << trial << " variable " << i;
      EXPECT_NEAR(x[i] * y, 0, 1e-5) << "trial " << trial << " variable " << i;
    }
  }
}

}  // namespace
}  // namespace undertext
