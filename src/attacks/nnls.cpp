#include "attacks/nnls.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/threads.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
}

namespace undertext {
namespace {

// Solves the problem without signs on the chosen variables; false when G is not positive definite there.
bool solve_on(const Matrix<double>& g, const std::vector<double>& c, const std::vector<std::int64_t>& chosen,
              double ridge, std::vector<double>& x) {
  const int n = static_cast<int>(chosen.size());
  std::fill(x.begin(), x.end(), 0.0);
  if (n == 0) return true;
  std::vector<double> a(static_cast<std::size_t>(n) * n), b(static_cast<std::size_t>(n));
  parallel_for((n + 63) / 64, [&](std::int64_t block) {
    for (std::int64_t i = block * 64; i < std::min<std::int64_t>(n, block * 64 + 64); ++i) {
      const double* row = g.row(chosen[i]);
      double* out = a.data() + i * n;
      for (std::int64_t j = 0; j <= i; ++j) out[j] = row[chosen[j]];
      out[i] += ridge;
    }
  });
  for (int i = 0; i < n; ++i) b[i] = c[chosen[i]];
  // Our rows are LAPACK's columns: the lower triangle we filled is its upper one.
  int info = 0;
  const int one = 1;
  dpotrf_("U", &n, a.data(), &n, &info);
  if (info != 0) return false;
  dpotrs_("U", &n, &one, a.data(), &n, b.data(), &n, &info);
  for (int i = 0; i < n; ++i) x[chosen[i]] = b[i];
  return true;
}

// y = G x - c
void gradient(const Matrix<double>& g, const std::vector<double>& c, const std::vector<double>& x,
              double ridge, std::vector<double>& y) {
  const std::int64_t m = g.rows;
  std::vector<std::int64_t> support;
  for (std::int64_t i = 0; i < m; ++i)
    if (x[i] != 0) support.push_back(i);
  parallel_for((m + 63) / 64, [&](std::int64_t block) {
    for (std::int64_t i = block * 64; i < std::min(m, block * 64 + 64); ++i) {
      const double* row = g.row(i);
      double sum = ridge * x[i] - c[i];
      for (std::int64_t j : support) sum += row[j] * x[j];
      y[i] = sum;
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

// Block principal pivoting (Kim and Park, 2011): guess the positive variables, solve for them, exchange all
// that violate the optimality conditions. Fast, but may cycle: false when it has not settled.
bool pivot(Scaled& problem, std::vector<char>& positive, std::vector<double>& x) {
  const std::int64_t m = problem.g.rows;
  std::vector<double> y(static_cast<std::size_t>(m));
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  int patience = 5;
  while (true) {
    if (!solve_on(problem.g, problem.c, members(positive), problem.ridge, x)) return false;
    gradient(problem.g, problem.c, x, problem.ridge, y);
    std::vector<std::int64_t> wrong;
    for (std::int64_t i = 0; i < m; ++i)
      if (positive[i] ? x[i] < -problem.tolerance : (problem.d[i] > 0 && y[i] < -problem.tolerance))
        wrong.push_back(i);
    if (wrong.empty()) return true;
    if (wrong.size() < fewest) {
      fewest = wrong.size();
      patience = 5;
    } else if (--patience == 0) {
      return false;
    }
    for (std::int64_t i : wrong) positive[i] = !positive[i];
  }
}

// Lawson and Hanson's active set method, adding the most violated variables in groups. Every step goes
// down and stays feasible, so it always ends.
void active_set(Scaled& problem, std::vector<char>& positive, std::vector<double>& x) {
  const std::int64_t m = problem.g.rows;
  std::vector<double> y(static_cast<std::size_t>(m)), target(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) {
    x[i] = positive[i] ? std::max(0.0, x[i]) : 0;
    positive[i] = x[i] > 0;
  }
  for (int round = 0; round < 200; ++round) {
    gradient(problem.g, problem.c, x, problem.ridge, y);
    std::vector<std::int64_t> enter;
    for (std::int64_t i = 0; i < m; ++i)
      if (!positive[i] && problem.d[i] > 0 && y[i] < -problem.tolerance) enter.push_back(i);
    if (enter.empty()) return;
    const std::size_t group = round < 20 ? std::max<std::size_t>(1, enter.size() / 4) : 1;
    std::partial_sort(
        enter.begin(), enter.begin() + static_cast<std::ptrdiff_t>(group), enter.end(),
        [&](std::int64_t a, std::int64_t b) { return std::pair(y[a], a) < std::pair(y[b], b); });
    enter.resize(group);
    for (std::int64_t i : enter) positive[i] = 1;
    while (true) {
      // A dependent set is solved with as much ridge as it takes; the next step corrects for it.
      for (double ridge = problem.ridge; !solve_on(problem.g, problem.c, members(positive), ridge, target);)
        ridge = std::max(1e-14, ridge * 10);
      double step = 1;
      for (std::int64_t i = 0; i < m; ++i)
        if (positive[i] && target[i] <= 0 && x[i] > 0) step = std::min(step, x[i] / (x[i] - target[i]));
      bool dropped = false;
      for (std::int64_t i = 0; i < m; ++i) {
        if (!positive[i]) continue;
        const bool leaves = target[i] <= 0 && x[i] + step * (target[i] - x[i]) <= problem.tolerance;
        x[i] = leaves ? 0 : x[i] + step * (target[i] - x[i]);
        if (leaves) {
          positive[i] = 0;
          dropped = true;
        }
      }
      if (!dropped) break;
    }
  }
}

}  // namespace

std::vector<double> solve_nnls(const Matrix<double>& gram, const std::vector<double>& c, double ridge,
                               const std::vector<double>& start) {
  const std::int64_t m = gram.rows;
  UNDERTEXT_CHECK(gram.cols == m && static_cast<std::int64_t>(c.size()) == m);
  Scaled problem{Matrix<double>(m, m), std::vector<double>(c.size()), std::vector<double>(c.size()), ridge,
                 0};
  std::vector<double>& d = problem.d;
  for (std::int64_t i = 0; i < m; ++i) d[i] = gram(i, i) > 1e-20 ? 1 / std::sqrt(gram(i, i)) : 0;
  parallel_for((m + 63) / 64, [&](std::int64_t block) {
    for (std::int64_t i = block * 64; i < std::min(m, block * 64 + 64); ++i)
      for (std::int64_t j = 0; j < m; ++j) problem.g(i, j) = gram(i, j) * d[i] * d[j];
  });
  double scale = 1e-30;
  for (std::int64_t i = 0; i < m; ++i) {
    problem.c[i] = d[i] > 0 ? c[i] * d[i] : -1;
    if (d[i] > 0) scale = std::max(scale, std::abs(problem.c[i]));
  }
  problem.tolerance = 1e-11 * scale;

  std::vector<char> positive(c.size(), 0);
  std::vector<double> x(c.size(), 0.0);
  if (!start.empty())
    for (std::int64_t i = 0; i < m; ++i) positive[i] = start[i] > 0 && d[i] > 0;
  if (!pivot(problem, positive, x)) {
    for (std::int64_t i = 0; i < m; ++i) {
      positive[i] = !start.empty() && start[i] > 0 && d[i] > 0;
      x[i] = positive[i] ? start[i] / d[i] : 0;
    }
    active_set(problem, positive, x);
  }
  for (std::int64_t i = 0; i < m; ++i) x[i] = std::max(0.0, x[i]) * d[i];
  return x;
}

}  // namespace undertext
