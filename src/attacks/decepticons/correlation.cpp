#include "attacks/decepticons/correlation.h"

#include <cmath>

#include "base/blas.h"
#include "base/error.h"

namespace undertext {

void standardise(float* row, std::int64_t n) {
  float sum = 0, squares = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += row[j];
  const float mean = sum / static_cast<float>(n);
  for (std::int64_t j = 0; j < n; ++j) {
    row[j] -= mean;
    squares += row[j] * row[j];
  }
  const float scale = squares > 0 && std::isfinite(squares) ? 1 / std::sqrt(squares) : 0;
  for (std::int64_t j = 0; j < n; ++j) row[j] = scale > 0 ? row[j] * scale : 0;
}

Matrix<float> standardised(const float* from, std::int64_t rows, std::int64_t cols, std::int64_t first,
                           std::int64_t last) {
  Matrix<float> out(rows, last - first);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy(from + i * cols + first, from + i * cols + last, out.row(i));
    standardise(out.row(i), out.cols);
  }
  return out;
}

Matrix<float> correlations(const Matrix<float>& a, const Matrix<float>& b) {
  UNDERTEXT_CHECK(a.cols == b.cols);
  Matrix<float> out(a.rows, b.rows);
  if (a.rows > 0 && b.rows > 0) multiply(a, Transpose::no, b, Transpose::yes, out);
  return out;
}

}  // namespace undertext
