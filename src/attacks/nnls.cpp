#include "attacks/nnls.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/cholesky.h"
#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr int kPatience = 5;         // exchanges without progress
constexpr std::size_t kAtOnce = 64;  // variables that enter together
constexpr int kMostRounds = 300;
constexpr double kDependent = 1e-11;  // of a unit diagonal, left over when a variable adds nothing new

// Solves the problem without signs on the chosen variables; false when G is not positive definite there.
bool solve_on(const Matrix<double>& g, const std::vector<double>& c, const std::vector<std::int64_t>& chosen,
              double ridge, std::vector<double>& x) {
  const int n = static_cast<int>(chosen.size());
  std::fill(x.begin(), x.end(), 0.0);
  if (n == 0) return true;
  Matrix<double> a(n, n), b(1, n);
  parallel_for((n + 63) / 64, [&](std::int64_t block) {
    for (std::int64_t i = block * 64; i < std::min<std::int64_t>(n, block * 64 + 64); ++i) {
      const double* row = g.row(chosen[i]);
      double* out = a.row(i);
      for (std::int64_t j = 0; j <= i; ++j) out[j] = row[chosen[j]];
      out[i] += ridge;
    }
  });
  for (int i = 0; i < n; ++i) b(0, i) = c[chosen[i]];
  if (!cholesky(a)) return false;
  cholesky_solve(a, b);
  for (int i = 0; i < n; ++i) x[chosen[i]] = b(0, i);
  return true;
}

// y = G x - c
void gradient(const Matrix<double>& g, const std::vector<double>& c, const std::vector<double>& x,
              double ridge, std::vector<double>& y) {
  const std::int64_t m = g.rows;
  // G is symmetric: its rows are added up instead of dotted, block by block of columns.
  constexpr std::int64_t kBlock = 512;
  std::vector<std::int64_t> support;
  for (std::int64_t i = 0; i < m; ++i)
    if (x[i] != 0) support.push_back(i);
  parallel_for((m + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t from = block * kBlock, size = std::min(kBlock, m - from);
    double* out = y.data() + from;
    for (std::int64_t i = 0; i < size; ++i) out[i] = ridge * x[from + i] - c[from + i];
    for (std::int64_t j : support) {
      const double* row = g.row(j) + from;
      const double value = x[j];
      for (std::int64_t i = 0; i < size; ++i) out[i] += value * row[i];
    }
  });
}

// The problem scaled to a unit diagonal.
struct Scaled {
  Matrix<double> g;
  std::vector<double> c, d;
  double ridge, tolerance;
};

std::vector<std::int64_t> members(const std::vector<char>& in) {
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i]) list.push_back(static_cast<std::int64_t>(i));
  return list;
}

// Keeps the `count` entries with the lowest y.
void keep_lowest(std::vector<std::int64_t>& list, const std::vector<double>& y, std::size_t count) {
  if (list.size() <= count) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count), list.end(),
                   [&](std::int64_t a, std::int64_t b) { return std::pair(y[a], a) < std::pair(y[b], b); });
  list.resize(count);
}

// Block principal pivoting (Kim and Park, 2011): guess the positive variables, solve for them, exchange those
// that violate the optimality conditions, though never more than double the guess, since most of many
// variables stay at zero. Fast, but may cycle: false when it has not settled.
bool pivot(Scaled& problem, std::vector<char>& positive, std::vector<double>& x) {
  const std::int64_t m = problem.g.rows;
  std::vector<double> y(static_cast<std::size_t>(m));
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  int patience = kPatience;
  while (true) {
    const std::vector<std::int64_t> guess = members(positive);
    if (!solve_on(problem.g, problem.c, guess, problem.ridge, x)) return false;
    gradient(problem.g, problem.c, x, problem.ridge, y);
    std::vector<std::int64_t> leave, enter;
    for (std::int64_t i = 0; i < m; ++i) {
      if (positive[i] && x[i] < -problem.tolerance) leave.push_back(i);
      if (!positive[i] && problem.d[i] > 0 && y[i] < -problem.tolerance) enter.push_back(i);
    }
    const std::size_t wrong = leave.size() + enter.size();
    if (wrong == 0) return true;
    if (wrong < fewest) {
      fewest = wrong;
      patience = kPatience;
    } else if (--patience == 0) {
      return false;
    }
    keep_lowest(enter, y, std::max<std::size_t>(kAtOnce, guess.size()));
    for (std::int64_t i : leave) positive[i] = 0;
    for (std::int64_t i : enter) positive[i] = 1;
  }
}

// The Cholesky factor of G (with its ridge) on a set of variables that come and go one at a time.
class Factor {
 public:
  explicit Factor(const Scaled& problem) : problem_(problem) {}

  const std::vector<std::int64_t>& members() const { return members_; }

  // False, and no change, when the variable depends on the others.
  bool append(std::int64_t variable) {
    const std::size_t n = members_.size();
    reserve(n + 1);
    const double* g = problem_.g.row(variable);
    double* row = at(n);
    double left = g[variable] + problem_.ridge;
    for (std::size_t i = 0; i < n; ++i) {
      const double* above = at(i);
      row[i] = (g[members_[i]] - dot(above, row, i)) / above[i];
      left -= row[i] * row[i];
    }
    if (left < kDependent) return false;
    row[n] = std::sqrt(left);
    members_.push_back(variable);
    return true;
  }

  // Takes the member at `place` out: the rows below it are brought back to a triangle by rotations.
  void remove(std::size_t place) {
    const std::size_t n = members_.size();
    std::vector<double> cosine(n), sine(n);
    for (std::size_t i = place + 1; i < n; ++i) {
      double* from = at(i);
      for (std::size_t j = place; j + 1 < i; ++j) {
        const double a = from[j], b = from[j + 1];
        from[j] = cosine[j] * a + sine[j] * b;
        from[j + 1] = cosine[j] * b - sine[j] * a;
      }
      const double length = std::hypot(from[i - 1], from[i]);
      cosine[i - 1] = from[i - 1] / length;
      sine[i - 1] = from[i] / length;
      from[i - 1] = length;
      std::copy_n(from, i, at(i - 1));
    }
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(place));
  }

  // The minimum over the members, in their order.
  std::vector<double> solve() const {
    const std::size_t n = members_.size();
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = (problem_.c[members_[i]] - dot(at(i), x.data(), i)) / at(i)[i];
    for (std::size_t i = n; i-- > 0;) {
      const double* row = at(i);
      x[i] /= row[i];
      for (std::size_t j = 0; j < i; ++j) x[j] -= x[i] * row[j];
    }
    return x;
  }

 private:
  static double dot(const double* a, const double* b, std::size_t n) {
    return cblas_ddot(static_cast<int>(n), a, 1, b, 1);
  }
  double* at(std::size_t row) { return rows_.data() + row * stride_; }
  const double* at(std::size_t row) const { return rows_.data() + row * stride_; }
  void reserve(std::size_t n) {
    if (n <= stride_) return;
    const std::size_t stride = std::max<std::size_t>(256, n + n / 2);
    std::vector<double> rows(stride * stride);
    for (std::size_t i = 0; i < members_.size(); ++i) std::copy_n(at(i), i + 1, rows.data() + i * stride);
    rows_ = std::move(rows);
    stride_ = stride;
  }

  const Scaled& problem_;
  std::vector<std::int64_t> members_;
  std::vector<double> rows_;  // lower triangle, `stride_` numbers a row
  std::size_t stride_ = 0;
};

// Lawson and Hanson's active set method, adding the most violated variables in groups. Every step goes down
// and stays feasible, so it always ends. Begins with the variables of x that are positive.
void active_set(const Scaled& problem, std::vector<double>& x) {
  const std::int64_t m = problem.g.rows;
  Factor factor(problem);
  for (std::int64_t i = 0; i < m; ++i)
    if (x[i] <= 0 || !factor.append(i)) x[i] = 0;
  std::vector<double> y(static_cast<std::size_t>(m));
  std::vector<char> in(static_cast<std::size_t>(m), 0), dependent = in;
  for (std::int64_t i : factor.members()) in[i] = 1;
  // Moves to the minimum over the members, dropping those that reach zero on the way.
  const auto descend = [&] {
    for (bool dropped = true; dropped;) {
      const std::vector<double> target = factor.solve();
      const std::vector<std::int64_t> members = factor.members();
      // Those at zero that would go below leave before anything moves; then as far as all stay positive.
      double step = 1;
      for (std::size_t i = 0; i < members.size(); ++i)
        if (target[i] <= 0) step = std::min(step, x[members[i]] / (x[members[i]] - target[i] + 1e-300));
      dropped = false;
      for (std::size_t i = members.size(); i-- > 0;) {
        double& value = x[members[i]];
        value += step * (target[i] - value);
        if (target[i] > 0 || value > problem.tolerance) continue;
        value = 0;
        in[members[i]] = 0;
        factor.remove(i);
        dropped = true;
      }
    }
  };
  descend();
  std::size_t group = kAtOnce;
  for (int round = 0; round < kMostRounds; ++round) {
    gradient(problem.g, problem.c, x, problem.ridge, y);
    std::vector<std::int64_t> enter;
    for (std::int64_t i = 0; i < m; ++i)
      if (!in[i] && !dependent[i] && problem.d[i] > 0 && y[i] < -problem.tolerance) enter.push_back(i);
    if (enter.empty()) return;
    keep_lowest(enter, y, group);
    std::sort(enter.begin(), enter.end());
    for (std::int64_t i : enter) (factor.append(i) ? in : dependent)[i] = 1;
    descend();
    // A group of which all leave again is no progress; one variable alone always is, unless it depends on the
    // others, which may change once these do.
    const auto stayed = std::count_if(enter.begin(), enter.end(), [&](std::int64_t i) { return in[i]; });
    group = stayed == 0 ? 1 : std::min(kAtOnce, group * 2);
    if (stayed > 0) std::fill(dependent.begin(), dependent.end(), 0);
  }
}

}  // namespace

std::vector<double> solve_nnls(Matrix<double> gram, const std::vector<double>& c, double ridge,
                               const std::vector<double>& start) {
  const std::int64_t m = gram.rows;
  UNDERTEXT_CHECK(gram.cols == m && static_cast<std::int64_t>(c.size()) == m);
  Scaled problem{std::move(gram), std::vector<double>(c.size()), std::vector<double>(c.size()), ridge, 0};
  std::vector<double>& d = problem.d;
  for (std::int64_t i = 0; i < m; ++i) d[i] = problem.g(i, i) > 1e-20 ? 1 / std::sqrt(problem.g(i, i)) : 0;
  parallel_for((m + 63) / 64, [&](std::int64_t block) {
    for (std::int64_t i = block * 64; i < std::min(m, block * 64 + 64); ++i)
      for (std::int64_t j = 0; j < m; ++j) problem.g(i, j) *= d[i] * d[j];
  });
  double scale = 1e-30;
  for (std::int64_t i = 0; i < m; ++i) {
    problem.c[i] = d[i] > 0 ? c[i] * d[i] : -1;
    if (d[i] > 0) scale = std::max(scale, std::abs(problem.c[i]));
  }
  problem.tolerance = 1e-10 * scale;

  std::vector<char> positive(c.size(), 0);
  std::vector<double> x(c.size(), 0.0);
  if (!start.empty())
    for (std::int64_t i = 0; i < m; ++i) positive[i] = start[i] > 0 && d[i] > 0;
  if (!pivot(problem, positive, x)) {
    for (std::int64_t i = 0; i < m; ++i) x[i] = positive[i] ? std::max(0.0, x[i]) : 0;
    active_set(problem, x);
  }
  for (std::int64_t i = 0; i < m; ++i) x[i] = std::max(0.0, x[i]) * d[i];
  return x;
}

}  // namespace undertext
