#include "attacks/film/filter.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "base/blas.h"
#include "base/cholesky.h"
#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr double kPlaceNoise = 30;  // how much what is common to a place counts beyond its own share

Matrix<float> narrowed(const Matrix<double>& m) {
  Matrix<float> out(m.rows, m.cols);
  for (std::size_t i = 0; i < m.data.size(); ++i) out.data[i] = static_cast<float>(m.data[i]);
  return out;
}

// One more column of ones, for the bias.
Matrix<float> with_one(const Matrix<float>& m) {
  Matrix<float> out(m.rows, m.cols + 1, 1.0f);
  for (std::int64_t i = 0; i < m.rows; ++i) std::copy_n(m.row(i), m.cols, out.row(i));
  return out;
}

std::array<const Matrix<float>*, kDyads> left_of(const TailContexts& c) {
  return {&c.a, &c.x, &c.o};
}
std::array<const Matrix<float>*, kDyads> right_of(const TailSteps& s) {
  return {&s.delta, &s.inner, &s.middle};
}

double trace(const Matrix<double>& m) {
  double total = 0;
  for (std::int64_t i = 0; i < m.rows; ++i) total += m(i, i);
  return total;
}

// W (n, n) such that rows x W have second moments 1 where those of x are `moments`: the transpose of the
// inverse of its Cholesky factor.
Matrix<double> whitener(Matrix<double> moments, double ridge) {
  const std::int64_t n = moments.rows;
  const double add = std::max(ridge * trace(moments) / static_cast<double>(n), 1e-300);
  for (std::int64_t i = 0; i < n; ++i) moments(i, i) += add;
  UNDERTEXT_CHECK(cholesky(moments));
  // Rows of the identity, solved by L alone: x L' = e.
  Matrix<double> inverse(n, n);
  for (std::int64_t i = 0; i < n; ++i) inverse(i, i) = 1;
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(n),
              static_cast<int>(n), 1, moments.data.data(), static_cast<int>(n), inverse.data.data(),
              static_cast<int>(n));
  return transposed(inverse);
}

// An empty b counts as the identity.
Matrix<float> product(const Matrix<float>& a, const Matrix<float>& b) {
  if (b.rows == 0) return a;
  Matrix<float> c(a.rows, b.cols);
  multiply(a, Transpose::no, b, Transpose::no, c);
  return c;
}

// x' x / n
Matrix<double> second_moments(const Matrix<float>& x) {
  const Matrix<double> rows = widened(x);
  Matrix<double> result(x.cols, x.cols);
  multiply(rows, Transpose::yes, rows, Transpose::no, result, 1 / static_cast<double>(x.rows));
  return result;
}

// (places, columns) of rows that lie place by place.
Matrix<float> means_by_place(const Matrix<float>& x, std::int64_t places) {
  Matrix<float> result(places, x.cols);
  const std::int64_t each = x.rows / places;
  for (std::int64_t i = 0; i < each * places; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) result(i / each, j) += x(i, j) / static_cast<float>(each);
  return result;
}

double squared_norm(const float* x, std::int64_t n) {
  double total = 0;
  for (std::int64_t j = 0; j < n; ++j) total += static_cast<double>(x[j]) * x[j];
  return total;
}

}  // namespace

void add_steps(const TailContexts& contexts, std::span<const std::int32_t> rows, const TailSteps& steps,
               std::span<const double> weight, TailGradient& gradient) {
  for (std::size_t which = 0; which < kDyads; ++which) {
    if (gradient[which].rows == 0) continue;
    const Matrix<float>&all = *left_of(contexts)[which], &right = *right_of(steps)[which];
    Matrix<double> left(right.rows, all.cols + 1);
    for (std::int64_t i = 0; i < right.rows; ++i) {
      const float* from = all.row(rows[static_cast<std::size_t>(i)]);
      const double w = weight[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < all.cols; ++j) left(i, j) = w * from[j];
      left(i, all.cols) = w;
    }
    multiply(left, Transpose::yes, widened(right), Transpose::no, gradient[which], 1, 1);
  }
}

Filter::Filter(const TailContexts& contexts, const TailSteps& steps, std::int64_t places, double ridge)
    : ridge_(ridge) {
  for (std::size_t which = 0; which < kDyads; ++which) {
    const Matrix<float> left = with_one(*left_of(contexts)[which]), &right = *right_of(steps)[which];
    const bool left_is_wide = left.cols >= right.cols;
    Matrix<double> moments = second_moments(left);
    const Matrix<double> common = second_moments(means_by_place(left, places));
    for (std::size_t i = 0; i < moments.data.size(); ++i) moments.data[i] += kPlaceNoise * common.data[i];
    dyads_[which].wide = whitener(left_is_wide ? moments : second_moments(right), ridge);
    dyads_[which].narrow = left_is_wide ? second_moments(right) : std::move(moments);
  }
}

Filter Filter::plain(const TailGradient& gradient) {
  Filter result;
  result.measure(gradient);
  return result;
}

void Filter::observe(const TailGradient& residual, double own_share) {
  for (std::size_t which = 0; which < kDyads; ++which) {
    Dyad& dyad = dyads_[which];
    const Matrix<double>& g = residual[which];
    dyad.left_whitener = dyad.right_whitener = {};
    if (g.rows == 0) continue;
    const bool left_is_wide = g.rows == dyad.wide.rows;
    // (wide, narrow), whitened on the wide side.
    Matrix<double> half(dyad.wide.rows, left_is_wide ? g.cols : g.rows), moments(half.cols, half.cols);
    multiply(dyad.wide, Transpose::yes, g, left_is_wide ? Transpose::no : Transpose::yes, half);
    multiply(half, Transpose::yes, half, Transpose::no, moments, 1 / static_cast<double>(half.rows));
    const double share = own_share * trace(moments) / trace(dyad.narrow);
    for (std::size_t i = 0; i < moments.data.size(); ++i)
      moments.data[i] = (1 - own_share) * moments.data[i] + share * dyad.narrow.data[i];
    const Matrix<double> narrow = whitener(std::move(moments), ridge_);
    dyad.left_whitener = left_is_wide ? dyad.wide : narrow;
    dyad.right_whitener = left_is_wide ? narrow : dyad.wide;
    dyad.left = narrowed(dyad.left_whitener);
    dyad.right = narrowed(dyad.right_whitener);
  }
  measure(residual);
}

void Filter::measure(const TailGradient& gradient) {
  for (std::size_t which = 0; which < kDyads; ++which) {
    Dyad& dyad = dyads_[which];
    const Matrix<double>& g = gradient[which];
    dyad.observed = {};
    if (g.rows == 0) continue;
    if (dyad.left_whitener.rows == 0) {
      dyad.observed = narrowed(g);
      continue;
    }
    Matrix<double> a(g.rows, g.cols), b(g.rows, g.cols);
    multiply(dyad.left_whitener, Transpose::yes, g, Transpose::no, a);
    multiply(a, Transpose::no, dyad.right_whitener, Transpose::no, b);
    multiply(b, Transpose::no, dyad.right_whitener, Transpose::yes, a);
    dyad.observed = narrowed(a);
  }
}

Sides Filter::left(const TailContexts& contexts) const {
  Sides result;
  for (std::size_t which = 0; which < kDyads; ++which)
    if (dyads_[which].observed.rows > 0)
      result[which] = product(with_one(*left_of(contexts)[which]), dyads_[which].left);
  return result;
}

Sides Filter::right(const TailSteps& steps) const {
  Sides result;
  for (std::size_t which = 0; which < kDyads; ++which)
    if (dyads_[which].observed.rows > 0)
      result[which] = product(*right_of(steps)[which], dyads_[which].right);
  return result;
}

Matrix<float> Filter::right_of_delta(const Matrix<float>& delta) const {
  return product(delta, dyads_[0].right);
}

Sides Filter::responses(const Sides& left) const {
  Sides result;
  for (std::size_t which = 0; which < kDyads; ++which)
    if (dyads_[which].observed.rows > 0) result[which] = product(left[which], dyads_[which].observed);
  return result;
}

Matrix<double> gram_of_steps(const Sides& left, std::span<const std::int32_t> rows, const Sides& right) {
  const auto m = static_cast<std::int64_t>(rows.size());
  Matrix<double> total(m, m);
  for (std::size_t which = 0; which < kDyads; ++which) {
    if (right[which].rows == 0) continue;
    Matrix<double> l(m, left[which].cols);
    for (std::int64_t i = 0; i < m; ++i)
      std::copy_n(left[which].row(rows[static_cast<std::size_t>(i)]), l.cols, l.row(i));
    Matrix<double> g = gram(widened(right[which]));
    multiply_by_gram(l, g);
    for (std::size_t i = 0; i < g.data.size(); ++i) total.data[i] += g.data[i];
  }
  return total;
}

std::vector<double> energies(const Sides& left, std::span<const std::int32_t> rows, const Sides& right) {
  std::vector<double> result(rows.size(), 0.0);
  for (std::size_t which = 0; which < kDyads; ++which) {
    if (right[which].rows == 0) continue;
    parallel_for(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      result[at] += squared_norm(left[which].row(rows[at]), left[which].cols) *
                    squared_norm(right[which].row(i), right[which].cols);
    });
  }
  return result;
}

}  // namespace undertext
