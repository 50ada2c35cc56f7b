#include "attacks/decepticons/atoms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace undertext {
namespace {

Matrix<float> random_rows(std::int64_t n, std::int64_t d, double length) {
  Matrix<float> rows(n, d);
  Random random{Seed(4)};
  for (std::int64_t i = 0; i < n; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < d; ++j) {
      rows(i, j) = static_cast<float>(random.normal());
      squares += static_cast<double>(rows(i, j)) * rows(i, j);
    }
    for (std::int64_t j = 0; j < d; ++j) rows(i, j) *= static_cast<float>(length / std::sqrt(squares));
  }
  return rows;
}

std::optional<Mixture> decoded(const Atoms& atoms, const Matrix<float>& rows,
                               const std::vector<Mixture::Part>& parts, int most) {
  Matrix<float> vector(1, rows.cols);
  for (const Mixture::Part& part : parts)
    for (std::int64_t j = 0; j < rows.cols; ++j)
      vector(0, j) += static_cast<float>(part.amount) * rows(part.atom, j);
  return atoms.decode(vector.row(0), atoms.correlations(vector).row(0), most, 3e-3);
}

TEST(Atoms, FindsTheFewestThatMakeUpAVector) {
  const Matrix<float> rows = random_rows(200, 30, 10);
  const Atoms atoms(rows);
  const std::vector<std::vector<Mixture::Part>> mixtures = {
      {{17, -0.5}}, {{3, 0.7}, {150, -0.9}}, {{3, 0.7}, {150, -0.9}, {42, 0.6}}};
  for (const auto& parts : mixtures) {
    const auto found = decoded(atoms, rows, parts, 3);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->parts.size(), parts.size());
    for (const Mixture::Part& part : parts) {
      const auto same = std::ranges::find(found->parts, part.atom, &Mixture::Part::atom);
      ASSERT_NE(same, found->parts.end());
      EXPECT_NEAR(same->amount, part.amount, 1e-4);
    }
  }
}

TEST(Atoms, SaysWhenThereAreNoneSoFew) {
  const Matrix<float> rows = random_rows(200, 30, 10);
  const Atoms atoms(rows);
  EXPECT_FALSE(decoded(atoms, rows, {{3, 0.7}, {150, -0.9}, {42, 0.6}}, 2));
  EXPECT_FALSE(decoded(atoms, rows, {{3, 0.7}, {150, -0.9}}, 1));
  EXPECT_FALSE(decoded(atoms, rows, {}, 3));
}

}  // namespace
}  // namespace undertext
