#include "models/char_lstm/panels.h"

#include <algorithm>

#include "base/error.h"

namespace undertext {
namespace {

// may_alias: the numbers are written and read as floats elsewhere.
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float)), may_alias));

// Rows of c that are held in registers at once, four vectors of each: 24 of the 32 registers of AVX-512, 12
// of the 16 of its predecessors.
constexpr int kTileRows = kLanes == 16 ? 6 : 3;

// Rows of B between two visits of the same part of c: that much of a panel stays in the cache for all rows.
constexpr std::int64_t kDepth = 256;

template <int Rows, int Vectors>
void tile(std::int64_t depth, const float* a, std::int64_t lda, const float* b, float* c, std::int64_t ldc) {
  Vector sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sum[r][v] = reinterpret_cast<const Vector*>(c + r * ldc)[v];
  for (std::int64_t k = 0; k < depth; ++k) {
    const Vector* row = reinterpret_cast<const Vector*>(b) + k * Vectors;
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const float x = a[r * lda + k];
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sum[r][v] += x * row[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) reinterpret_cast<Vector*>(c + r * ldc)[v] = sum[r][v];
}

template <int Vectors>
void tile_of(std::int64_t rows, std::int64_t depth, const float* a, std::int64_t lda, const float* b,
             float* c, std::int64_t ldc) {
  switch (rows) {
    case 1:
      return tile<1, Vectors>(depth, a, lda, b, c, ldc);
    case 2:
      return tile<2, Vectors>(depth, a, lda, b, c, ldc);
    case 3:
      return tile<3, Vectors>(depth, a, lda, b, c, ldc);
    case 4:
      return tile<std::min(4, kTileRows), Vectors>(depth, a, lda, b, c, ldc);
    case 5:
      return tile<std::min(5, kTileRows), Vectors>(depth, a, lda, b, c, ldc);
    default:
      return tile<kTileRows, Vectors>(depth, a, lda, b, c, ldc);
  }
}

template <int Vectors>
void add_to_rows(std::int64_t rows, std::int64_t depth, const float* a, std::int64_t lda, const float* b,
                 float* c, std::int64_t ldc) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;  // of about equal height
  for (std::int64_t k = 0; k < depth; k += kDepth)
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t first = i * rows / tiles, count = (i + 1) * rows / tiles - first;
      tile_of<Vectors>(count, std::min(kDepth, depth - k), a + first * lda + k, lda, b + k * Vectors * kLanes,
                       c + first * ldc, ldc);
    }
}

}  // namespace

float* Panels::allocate(std::int64_t depth, std::int64_t columns) {
  UNDERTEXT_CHECK(columns % kLanes == 0);
  depth_ = depth;
  columns_ = columns;
  data_ = buffer_.floats(depth * columns);
  return data_;
}

void add_product(std::int64_t rows, const float* a, std::int64_t lda, const Panels& b, std::int64_t panel,
                 float* c, std::int64_t ldc) {
  const float* packed = b.panel(panel);
  switch (b.vectors(panel)) {
    case 1:
      return add_to_rows<1>(rows, b.depth(), a, lda, packed, c, ldc);
    case 2:
      return add_to_rows<2>(rows, b.depth(), a, lda, packed, c, ldc);
    case 3:
      return add_to_rows<3>(rows, b.depth(), a, lda, packed, c, ldc);
    default:
      return add_to_rows<4>(rows, b.depth(), a, lda, packed, c, ldc);
  }
}

void product(std::int64_t rows, const float* a, std::int64_t lda, const Panels& b, float* c, std::int64_t ldc,
             const float* start) {
  constexpr std::int64_t kRows = 192;  // of a at a time: they stay in the cache for all panels
  for (std::int64_t first = 0; first < rows; first += kRows) {
    const std::int64_t count = std::min(kRows, rows - first);
    for (std::int64_t p = 0; p < b.panels(); ++p) {
      float* to = c + first * ldc + p * kPanel;
      const std::int64_t width = b.vectors(p) * kLanes;
      for (std::int64_t r = 0; r < count; ++r)
        start ? std::copy_n(start + p * kPanel, width, to + r * ldc) : std::fill_n(to + r * ldc, width, 0.0f);
      add_product(count, a + first * lda, lda, b, p, to, ldc);
    }
  }
}

}  // namespace undertext
