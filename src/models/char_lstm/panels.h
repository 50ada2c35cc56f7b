// Products with a matrix that is packed once and multiplied by many times: an LSTM multiplies the few rows of
// a step by the same weights at every step, and BLAS would pack them anew each time, which for 8 or 16 rows
// takes as long as the product itself. Packed weights of 128 units stay in the second-level cache.
#pragma once

#include <cstdint>
#include <vector>

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
inline constexpr std::int64_t kPanel = 4 * kLanes;  // columns of a panel, the last may have fewer

inline std::int64_t padded(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

// B (depth, columns), columns a multiple of kLanes, as panels of kPanel columns, each with its rows one after
// the other.
class Panels {
 public:
  // at(k, j): element of B in row k and column j.
  template <typename At>
  void pack(std::int64_t depth, std::int64_t columns, At at) {
    float* to = allocate(depth, columns);
    for (std::int64_t j = 0; j < columns; j += kPanel) {
      const std::int64_t width = columns - j < kPanel ? columns - j : kPanel;
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t i = 0; i < width; ++i) *to++ = at(k, j + i);
    }
  }

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

// c (rows, the panel's columns) += a (rows, depth) times one panel; lda, ldc: distance between rows. c and
// its rows are aligned to vectors.
void add_product(std::int64_t rows, const float* a, std::int64_t lda, const Panels& b, std::int64_t panel,
                 float* c, std::int64_t ldc);

// c (rows, columns) = a (rows, depth) b, plus `start` (columns) in every row; null: nothing.
void product(std::int64_t rows, const float* a, std::int64_t lda, const Panels& b, float* c, std::int64_t ldc,
             const float* start = nullptr);

}  // namespace undertext
