// Products with a matrix that is packed once and multiplied by many times: an LSTM multiplies the few rows of
// a step by the same weights at every step, and BLAS would pack them anew each time, which for 16 rows takes
// half as long as the product itself. Packed weights of 128 units stay in the second-level cache.
#pragma once

#include <cstdint>
#include <functional>

#include "models/workspace.h"

namespace undertext {

// Floats of one vector register. Rows of internal matrices are padded with zeros to a multiple of it.
#if defined(__AVX512F__)
inline constexpr std::int64_t kLanes = 16;
#elif defined(__AVX__)
inline constexpr std::int64_t kLanes = 8;
#else
inline constexpr std::int64_t kLanes = 4;
#endif
inline constexpr std::int64_t kPanel = 4 * kLanes;  // columns of a panel; the last may have fewer

inline std::int64_t padded(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

// B (depth, columns), columns a multiple of kLanes, as panels of kPanel columns, each with its rows one after
// the other.
class Panels {
 public:
  // Row k of B is row(k), n numbers and then zeros; null: zeros.
  using Row = std::function<const float*(std::int64_t)>;
  void pack(std::int64_t depth, std::int64_t columns, std::int64_t n, const Row& row);
  // Column j of B is row(j), likewise.
  void pack_transposed(std::int64_t depth, std::int64_t columns, std::int64_t n, const Row& row);

  std::int64_t depth() const { return depth_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t panels() const { return (columns_ + kPanel - 1) / kPanel; }
  // Vectors in a row of that panel: four, or fewer in the last.
  std::int64_t vectors(std::int64_t panel) const {
    const std::int64_t left = columns_ - panel * kPanel;
    return (left < kPanel ? left : kPanel) / kLanes;
  }
  const float* panel(std::int64_t panel) const { return data_ + panel * kPanel * depth_; }

 private:
  float* allocate(std::int64_t depth, std::int64_t columns);

  std::int64_t depth_ = 0, columns_ = 0;
  Buffer buffer_;
  float* data_ = nullptr;
};

// A (rows, depth) on the left of a product: element (r, k) stands at r * row + k / run * next + k % run.
struct LeftMatrix {
  const float* data;
  std::int64_t row, run, next;
};

// Row by row, `stride` apart.
LeftMatrix rows_of(const float* data, std::int64_t stride);

// A matrix (rows, 4U) of gates by panels: (U / lanes, rows, kPanel). A product gives one panel of it for some
// rows at a time, and what becomes of those rows stays together in the cache.
struct Gates {
  float* data = nullptr;
  std::int64_t rows = 0;

  float* at(std::int64_t panel, std::int64_t row) const { return data + (panel * rows + row) * kPanel; }
  LeftMatrix from(std::int64_t row) const { return {at(0, row), kPanel, kPanel, rows * kPanel}; }
};

// c (rows, the panel's columns) += a times one panel of b; rows of c lie ldc apart and are aligned to
// vectors.
void add_product(std::int64_t rows, const LeftMatrix& a, const Panels& b, std::int64_t panel, float* c,
                 std::int64_t ldc);

// c (rows, columns) = a b, plus `start` (columns) in every row; null: nothing.
void product(std::int64_t rows, const LeftMatrix& a, const Panels& b, float* c, std::int64_t ldc,
             const float* start = nullptr);
// The same for the rows of c from `first` on.
void product(std::int64_t rows, const LeftMatrix& a, const Panels& b, const Gates& c, std::int64_t first,
             const float* start = nullptr);

// sums[j] += sum over rows of x[row][j], j in [0, n), rows `stride` apart: eight rows at a time in float32,
// these in double.
void add_columns(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t n, double* sums);

// sum += d' x for the panels [first, last) of gates d and x (rows, columns), rows ldx apart and both a
// multiple of kLanes. sum: (kPanel, columns) for one panel after the other. row_sums (kPanel for each): where
// wanted, add_columns() of the gates, while they are in the cache.
void add_outer(const Gates& d, std::int64_t first, std::int64_t last, const float* x, std::int64_t ldx,
               std::int64_t columns, float* sum, double* row_sums = nullptr);

}  // namespace undertext
