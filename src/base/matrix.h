// A dense row-major matrix that owns its numbers: the currency of the numerical inner loops, where a tensor
// library's dispatch would only be in the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace undertext {

template <typename T>
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<T> data;  // rows * cols

  Matrix() = default;
  Matrix(std::int64_t r, std::int64_t c, T value = T(0))
      : rows(r), cols(c), data(static_cast<std::size_t>(r * c), value) {}
  T* row(std::int64_t i) { return data.data() + i * cols; }
  const T* row(std::int64_t i) const { return data.data() + i * cols; }
  T& operator()(std::int64_t i, std::int64_t j) { return row(i)[j]; }
  T operator()(std::int64_t i, std::int64_t j) const { return row(i)[j]; }
};

inline Matrix<double> widened(const Matrix<float>& m) {
  Matrix<double> out(m.rows, m.cols);
  out.data.assign(m.data.begin(), m.data.end());
  return out;
}

template <typename T>
Matrix<T> transposed(const Matrix<T>& m) {
  Matrix<T> out(m.cols, m.rows);
  constexpr std::int64_t kTile = 32;
  for (std::int64_t from = 0; from < m.rows; from += kTile)
    for (std::int64_t j = 0; j < m.cols; ++j)
      for (std::int64_t i = from; i < std::min(m.rows, from + kTile); ++i) out(j, i) = m(i, j);
  return out;
}

}  // namespace undertext
