#include "attacks/decepticons/atoms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/blas.h"
#include "base/error.h"

namespace undertext {
namespace {

constexpr std::size_t kFirst = 48;  // atoms that a pair may start from
constexpr std::size_t kGrown = 64;  // pairs that a triple may start from
constexpr float kParallel = 1e-4f;  // atoms closer than this are no pair

}  // namespace

Atoms::Atoms(const Matrix<float>& rows) : unit_(rows) {
  if (rows.rows == 0) return;
  double squares = 0;
  for (std::int64_t j = 0; j < rows.cols; ++j) squares += static_cast<double>(rows(0, j)) * rows(0, j);
  length_ = std::sqrt(squares);
  UNDERTEXT_CHECK(length_ > 0);
  for (float& value : unit_.data) value = static_cast<float>(value / length_);
  gram_ = Matrix<float>(unit_.rows, unit_.rows);
  multiply(unit_, Transpose::no, unit_, Transpose::yes, gram_);
}

Matrix<float> Atoms::correlations(const Matrix<float>& vectors) const {
  Matrix<float> result(vectors.rows, unit_.rows);
  if (vectors.rows > 0 && unit_.rows > 0) multiply(vectors, Transpose::no, unit_, Transpose::yes, result);
  return result;
}

// Least squares by the normal equations, which are small, well conditioned and in double.
std::optional<Mixture> Atoms::fit(const float* vector, const std::vector<std::int64_t>& atoms) const {
  const auto k = atoms.size();
  double system[3][4] = {};
  double squares = 0;
  for (std::int64_t j = 0; j < unit_.cols; ++j) {
    const double value = vector[j];
    squares += value * value;
    for (std::size_t a = 0; a < k; ++a) {
      const double at = unit_(atoms[a], j);
      system[a][3] += at * value;
      for (std::size_t b = 0; b < k; ++b) system[a][b] += at * unit_(atoms[b], j);
    }
  }
  for (std::size_t a = 0; a < k; ++a) {
    if (system[a][a] < kParallel) return std::nullopt;
    for (std::size_t b = a + 1; b < k; ++b) {
      const double ratio = system[b][a] / system[a][a];
      for (std::size_t c = a; c < 4; ++c) system[b][c] -= ratio * system[a][c];
    }
  }
  double amount[3] = {};
  for (std::size_t a = k; a-- > 0;) {
    double rest = system[a][3];
    for (std::size_t b = a + 1; b < k; ++b) rest -= system[a][b] * amount[b];
    amount[a] = rest / system[a][a];
  }
  double left = 0;
  for (std::int64_t j = 0; j < unit_.cols; ++j) {
    double value = vector[j];
    for (std::size_t a = 0; a < k; ++a) value -= amount[a] * unit_(atoms[a], j);
    left += value * value;
  }
  Mixture mixture;
  for (std::size_t a = 0; a < k; ++a) mixture.parts.push_back({atoms[a], amount[a] / length_});
  mixture.residual = squares > 0 ? std::sqrt(left / squares) : 1;
  return mixture;
}

// Of a pair (i, j) the part explained is c_i^2 + (c_j - c_i g_ij)^2 / (1 - g_ij^2).
std::vector<Atoms::Pair> Atoms::best_pairs(const float* correlations, std::size_t count) const {
  const std::int64_t n = unit_.rows;
  std::vector<std::int64_t> first(static_cast<std::size_t>(n));
  std::iota(first.begin(), first.end(), 0);
  const std::size_t starts = std::min(kFirst, first.size());
  const auto larger = [&](std::int64_t a, std::int64_t b) {
    return std::abs(correlations[a]) > std::abs(correlations[b]);
  };
  std::nth_element(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(starts - 1), first.end(),
                   larger);
  first.resize(starts);
  std::ranges::sort(first);
  std::vector<Pair> pairs;
  std::vector<float> explained(static_cast<std::size_t>(n));
  for (const std::int64_t i : first) {
    const float c = correlations[i];
    const float* g = gram_.row(i);
    float* out = explained.data();
    for (std::int64_t j = 0; j < n; ++j) {
      const float own = correlations[j] - c * g[j];
      out[j] = own * own / std::max(1 - g[j] * g[j], kParallel);
    }
    out[i] = -1;
    if (count == 1) {
      const auto best = std::max_element(out, out + n) - out;
      pairs.push_back({i, best, c * c + out[best]});
    } else {
      for (std::int64_t j = 0; j < n; ++j)
        if (out[j] >= 0) pairs.push_back({i, j, c * c + out[j]});
    }
  }
  const auto better = [](const Pair& x, const Pair& y) { return x.explained > y.explained; };
  count = std::min(count, pairs.size());
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count), pairs.end(), better);
  pairs.resize(count);
  return pairs;
}

std::optional<Mixture> Atoms::decode(const float* vector, const float* correlations, int most,
                                     double tolerance) const {
  const std::int64_t n = unit_.rows;
  if (n == 0) return std::nullopt;
  double squares = 0;
  for (std::int64_t j = 0; j < unit_.cols; ++j) squares += static_cast<double>(vector[j]) * vector[j];
  if (squares == 0) return std::nullopt;
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i)
    if (std::abs(correlations[i]) > std::abs(correlations[best])) best = i;
  // Products in single precision cannot tell residuals below a thousandth from none.
  const double left = squares - static_cast<double>(correlations[best]) * correlations[best];
  if (left < (tolerance * tolerance + 1e-5) * squares) {
    const std::optional<Mixture> one = fit(vector, {best});
    if (one && one->residual < tolerance) return one;
  }
  if (most < 2 || n < 2) return std::nullopt;
  const std::vector<Pair> pairs = best_pairs(correlations, most > 2 ? kGrown : 1);
  if (!pairs.empty()) {
    const std::optional<Mixture> two = fit(vector, {pairs.front().a, pairs.front().b});
    if (two && two->residual < tolerance) return two;
  }
  if (most < 3 || n < 3) return std::nullopt;
  std::optional<Mixture> three;
  std::vector<float> rest(static_cast<std::size_t>(unit_.cols));
  for (const Pair& pair : pairs) {
    const std::optional<Mixture> two = fit(vector, {pair.a, pair.b});
    if (!two) continue;
    std::copy_n(vector, rest.size(), rest.begin());
    for (const Mixture::Part& part : two->parts)
      for (std::size_t j = 0; j < rest.size(); ++j)
        rest[j] -= static_cast<float>(part.amount * length_) * unit_(part.atom, static_cast<std::int64_t>(j));
    std::int64_t third = -1;
    float largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == pair.a || i == pair.b) continue;
      const float* atom = unit_.row(i);
      float product = 0;
      for (std::size_t j = 0; j < rest.size(); ++j) product += rest[j] * atom[j];
      const float own =
          product * product /
          std::max(1 - gram_(pair.a, i) * gram_(pair.a, i) - gram_(pair.b, i) * gram_(pair.b, i), 0.05f);
      if (own > largest) {
        largest = own;
        third = i;
      }
    }
    if (third < 0) continue;
    const std::optional<Mixture> fitted = fit(vector, {pair.a, pair.b, third});
    if (fitted && (!three || fitted->residual < three->residual)) three = fitted;
  }
  if (three && three->residual < tolerance) return three;
  return std::nullopt;
}

}  // namespace undertext
