#include "attacks/film/input_span.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/blas.h"
#include "base/quantile.h"

namespace undertext {
namespace {

// The least singular values are rounding alone, unless the space is the whole one. Those of noise lie within
// a factor of about three (Marchenko and Pastur) for a matrix three times as wide as high.
constexpr double kAboveLeast = 8;
constexpr double kFloat32 = 1e-7;  // of the greatest, whatever the least is
constexpr double kNoise = 2e-6;    // of the greatest: more than that in all directions is no rounding
// The share of a row's norm that lies outside. Rows that entered the layer have about 1e-7 of it, and more
// where they moved the weights little; what all rows have in common lies inside, so that others may have
// little too.
constexpr double kSurelyInside = 1e-4, kAtMost = 0.02;
constexpr double kOfUsual = 0.1;

}  // namespace

InputSpan::InputSpan(const at::Tensor& gradient, double rounding) : width_(gradient.size(0)) {
  const at::Tensor moments = gradient.matmul(gradient.t());
  const auto [squares, vectors] = at::linalg_eigh(moments);  // ascending
  const at::Tensor values = squares.clamp_min(0).sqrt().contiguous();
  const double* value = values.data_ptr<double>();
  const double greatest = value[width_ - 1];
  // The greatest singular value of a matrix of such errors.
  const double errors = rounding * (std::sqrt(static_cast<double>(gradient.size(0))) +
                                    std::sqrt(static_cast<double>(gradient.size(1))));
  const double cut = std::max({kAboveLeast * value[0], kFloat32 * greatest, 2 * errors});
  std::int64_t count = 0;
  if (kAboveLeast * value[0] < std::max(kNoise * greatest, kAboveLeast * 2 * errors))
    while (count < width_ && value[count] <= cut) ++count;
  outside_ = Matrix<float>(width_, count);
  const at::Tensor basis = vectors.contiguous();
  for (std::int64_t i = 0; i < width_; ++i)
    for (std::int64_t j = 0; j < count; ++j)
      outside_(i, j) = static_cast<float>(basis.data_ptr<double>()[i * width_ + j]);
}

std::vector<char> InputSpan::inside(const Matrix<float>& x) const {
  Matrix<float> parts(x.rows, outside_.cols);
  multiply(x, Transpose::no, outside_, Transpose::no, parts);
  const auto norm = [](const Matrix<float>& m, std::int64_t row) {
    double total = 0;
    for (std::int64_t j = 0; j < m.cols; ++j) total += static_cast<double>(m(row, j)) * m(row, j);
    return std::sqrt(total);
  };
  std::vector<double> outside;
  for (std::int64_t i = 0; i < x.rows; ++i) outside.push_back(norm(parts, i) / std::max(norm(x, i), 1e-300));
  const double most = std::clamp(kOfUsual * quantile(outside, 0.5), kSurelyInside, kAtMost);
  std::vector<char> result;
  for (const double share : outside) result.push_back(share < most ? 1 : 0);
  return result;
}

}  // namespace undertext
