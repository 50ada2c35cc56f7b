#include "base/cholesky.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

Matrix<double> matrix(std::int64_t rows, std::int64_t cols, std::vector<double> values) {
  Matrix<double> m(rows, cols);
  m.data = std::move(values);
  return m;
}

TEST(Cholesky, SolvesByHandComputedFactor) {
  // [[4, 2], [2, 5]] = L L' with L = [[2, 0], [1, 2]]; the upper triangle is never read.
  Matrix<double> a = matrix(2, 2, {4, -99, 2, 5});
  ASSERT_TRUE(cholesky(a));
  EXPECT_DOUBLE_EQ(a(0, 0), 2);
  EXPECT_DOUBLE_EQ(a(1, 0), 1);
  EXPECT_DOUBLE_EQ(a(1, 1), 2);
  Matrix<double> b = matrix(2, 2, {8, 12, 4, 2});
  cholesky_solve(a, b);
  EXPECT_DOUBLE_EQ(b(0, 0), 1);
  EXPECT_DOUBLE_EQ(b(0, 1), 2);
  EXPECT_DOUBLE_EQ(b(1, 0), 1);
  EXPECT_DOUBLE_EQ(b(1, 1), 0);
  const Matrix<double> inverse = cholesky_inverse(a);
  EXPECT_DOUBLE_EQ(inverse(0, 0), 5 / 16.0);
  EXPECT_DOUBLE_EQ(inverse(0, 1), -2 / 16.0);
  EXPECT_DOUBLE_EQ(inverse(1, 0), -2 / 16.0);
}

TEST(Cholesky, SaysWhenAMatrixIsNotPositiveDefinite) {
  Matrix<double> a = matrix(2, 2, {1, 0, 2, 1});
  EXPECT_FALSE(cholesky(a));
  Matrix<double> none(0, 0);
  EXPECT_TRUE(cholesky(none));
}

}  // namespace
}  // namespace undertext
