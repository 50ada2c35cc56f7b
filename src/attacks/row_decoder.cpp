#include "attacks/row_decoder.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "base/blas.h"
#include "base/cholesky.h"
#include "base/error.h"

namespace undertext {

RowDecoder::RowDecoder(const Matrix<float>& h, const Matrix<float>& filter)
    : h_(h),
      whitener_(filter.rows, filter.cols),
      white_(h.rows, h.cols),
      norm_(static_cast<std::size_t>(h.rows)) {
  const int d = static_cast<int>(filter.rows);
  Matrix<double> m = widened(filter);
  UNDERTEXT_CHECK(cholesky(m));
  for (int i = 0; i < d; ++i)
    for (int j = 0; j <= i; ++j) whitener_(i, j) = static_cast<float>(m(i, j));
  multiply(h, Transpose::no, whitener_, Transpose::no, white_);
  for (std::int64_t i = 0; i < h.rows; ++i) {
    norm_[i] = std::max(1e-6f, cblas_snrm2(d, white_.row(i), 1));
    cblas_sscal(d, 1 / norm_[i], white_.row(i), 1);
  }
}

RowDecoder::Decoding RowDecoder::decode(std::span<const float> row, std::int64_t terms) const {
  const int d = static_cast<int>(h_.cols), n = static_cast<int>(h_.rows);
  std::vector<float> target(static_cast<std::size_t>(d)), left, score(static_cast<std::size_t>(n));
  cblas_sgemv(CblasRowMajor, CblasTrans, d, d, 1, whitener_.data.data(), d, row.data(), 1, 0, target.data(),
              1);
  left = target;
  const float whole = cblas_snrm2(d, target.data(), 1);
  std::vector<int> chosen;
  std::vector<double> x;
  std::vector<char> in(static_cast<std::size_t>(n), 0);
  // Lawson and Hanson, one context at a time; the chosen set stays small, so it is solved anew each time.
  for (std::int64_t step = 0; step < 2 * terms + 4; ++step) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, d, 1, white_.data.data(), d, left.data(), 1, 0, score.data(),
                1);
    int best = -1;
    for (int i = 0; i < n; ++i)
      if (!in[i] && (best < 0 || score[i] > score[best])) best = i;
    if (best < 0 || score[best] < 1e-4f * whole) break;
    chosen.push_back(best);
    x.push_back(0);
    in[best] = 1;
    while (!chosen.empty()) {
      const int m = static_cast<int>(chosen.size());
      Matrix<double> a(m, m), solution(1, m);
      double* b = solution.row(0);
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j <= i; ++j)
          a(i, j) = cblas_dsdot(d, white_.row(chosen[i]), 1, white_.row(chosen[j]), 1);
        a(i, i) += 1e-7;
        b[i] = cblas_dsdot(d, white_.row(chosen[i]), 1, target.data(), 1);
      }
      if (!cholesky(a)) break;
      cholesky_solve(a, solution);
      double ratio = 1;
      for (int i = 0; i < m; ++i)
        if (b[i] <= 0) ratio = std::min(ratio, x[i] / (x[i] - b[i]));
      for (int i = 0; i < m; ++i) x[i] += ratio * (b[i] - x[i]);
      if (ratio >= 1) break;
      for (int i = m - 1; i >= 0; --i)
        if (x[i] <= 1e-9) {
          in[chosen[i]] = 0;
          chosen.erase(chosen.begin() + i);
          x.erase(x.begin() + i);
        }
    }
    left = target;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      cblas_saxpy(d, static_cast<float>(-x[i]), white_.row(chosen[i]), 1, left.data(), 1);
    if (cblas_snrm2(d, left.data(), 1) < 1e-3f * whole) break;
  }
  Decoding decoding;
  std::vector<float> rest(row.begin(), row.end()), unrounded = rest;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double weight = x[i] / norm_[chosen[i]];
    const auto count = static_cast<std::int64_t>(std::lround(weight));
    cblas_saxpy(d, -static_cast<float>(weight), h_.row(chosen[i]), 1, unrounded.data(), 1);
    if (count <= 0) continue;
    decoding.parts.push_back({chosen[i], count, weight});
    cblas_saxpy(d, -static_cast<float>(count), h_.row(chosen[i]), 1, rest.data(), 1);
  }
  decoding.residual = cblas_snrm2(d, rest.data(), 1);
  decoding.unrounded_residual = cblas_snrm2(d, unrounded.data(), 1);
  return decoding;
}

}  // namespace undertext
