#include "models/char_lstm/panels.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace undertext {
namespace {

// may_alias: the numbers are written and read as floats elsewhere.
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float)), may_alias));

// Rows of c that are held in registers at once, two vectors of each: 24 of the 32 registers of AVX-512, 12 of
// the 16 of its predecessors. Tall tiles read B seldom: it comes from the second-level cache.
constexpr int kTileRows = kLanes == 16 ? 12 : 6;

// Rows of B between two visits of the same part of c: that much of a panel stays in the cache for all rows.
constexpr std::int64_t kDepth = 256;
// Rows of A for which all panels are visited: they stay in the cache meanwhile.
constexpr std::int64_t kRows = 192;

// c (Rows, Vectors) += a b over `depth` rows of b, which lie ldb vectors apart.
struct TileArguments {
  LeftMatrix a;
  std::int64_t depth;
  const Vector* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
};

template <int Rows, int Vectors>
void load(const TileArguments& t, Vector (&sum)[Rows][Vectors]) {
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sum[r][v] = reinterpret_cast<const Vector*>(t.c + r * t.ldc)[v];
}

template <int Rows, int Vectors>
void store(const TileArguments& t, const Vector (&sum)[Rows][Vectors]) {
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) reinterpret_cast<Vector*>(t.c + r * t.ldc)[v] = sum[r][v];
}

struct Product {
  template <int Rows, int Vectors>
  static void tile(const TileArguments& t) {
    Vector sum[Rows][Vectors];
    load(t, sum);
    const std::int64_t row = t.a.row;
    // One pointer for three rows: more would not fit into the registers.
    const float *a0 = t.a.data, *a3 = a0 + 3 * row, *a6 = a3 + 3 * row, *a9 = a6 + 3 * row;
    const Vector* b = t.b;
    for (std::int64_t left = t.depth; left > 0; left -= t.a.run) {
      const std::int64_t run = std::min(left, t.a.run), skip = t.a.next - run;
      for (std::int64_t k = 0; k < run; ++k, b += t.ldb) {
#pragma GCC unroll 12
        for (int r = 0; r < Rows; ++r) {
          const float x = (r < 3 ? a0 : r < 6 ? a3 : r < 9 ? a6 : a9)[r % 3 * row];
#pragma GCC unroll 2
          for (int v = 0; v < Vectors; ++v) sum[r][v] += x * b[v];
        }
        ++a0, ++a3, ++a6, ++a9;
      }
      a0 += skip, a3 += skip, a6 += skip, a9 += skip;
    }
    store(t, sum);
  }
};

// a transposed: its row k holds what the rows of c take, and lies a.row after the one before.
struct OuterProduct {
  template <int Rows, int Vectors>
  static void tile(const TileArguments& t) {
    Vector sum[Rows][Vectors];
    load(t, sum);
    const float* a = t.a.data;
    const Vector* b = t.b;
    for (std::int64_t k = 0; k < t.depth; ++k, b += t.ldb, a += t.a.row) {
#pragma GCC unroll 12
      for (int r = 0; r < Rows; ++r) {
        const float x = a[r];
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) sum[r][v] += x * b[v];
      }
    }
    store(t, sum);
  }
};

template <typename Kind, int Vectors, int Rows = 1>
void run_tile(std::int64_t rows, const TileArguments& t) {
  if constexpr (Rows < kTileRows)
    if (rows > Rows) return run_tile<Kind, Vectors, Rows + 1>(rows, t);
  Kind::template tile<Rows, Vectors>(t);
}

// All `vectors` of so many rows; t: of the first two.
template <typename Kind>
void run_tiles(std::int64_t rows, std::int64_t vectors, TileArguments t) {
  for (std::int64_t v = 0; v < vectors; v += 2, t.b += 2, t.c += 2 * kLanes)
    v + 1 < vectors ? run_tile<Kind, 2>(rows, t) : run_tile<Kind, 1>(rows, t);
}

// Calls body(first, count) for pieces of about equal size, at most a tile's height.
template <typename Body>
void in_tiles(std::int64_t rows, Body body) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t first = i * rows / tiles;
    body(first, (i + 1) * rows / tiles - first);
  }
}

void start_rows(std::int64_t rows, std::int64_t width, const float* start, float* c, std::int64_t ldc) {
  for (std::int64_t r = 0; r < rows; ++r)
    start ? std::copy_n(start, width, c + r * ldc) : std::fill_n(c + r * ldc, width, 0.0f);
}

LeftMatrix from_row(LeftMatrix a, std::int64_t row) {
  a.data += row * a.row;
  return a;
}

}  // namespace

float* Panels::allocate(std::int64_t depth, std::int64_t columns) {
  UNDERTEXT_CHECK(columns % kLanes == 0);
  depth_ = depth;
  columns_ = columns;
  data_ = buffer_.floats(depth * columns);
  return data_;
}

void Panels::pack(std::int64_t depth, std::int64_t columns, std::int64_t n, const Row& row) {
  float* to = allocate(depth, columns);
  std::fill_n(to, depth * columns, 0.0f);
  for (std::int64_t k = 0; k < depth; ++k) {
    const float* from = row(k);
    if (!from) continue;
    for (std::int64_t j = 0; j < n; j += kPanel) {
      const std::int64_t width = vectors(j / kPanel) * kLanes;
      std::copy_n(from + j, std::min(width, n - j), to + j * depth + k * width);
    }
  }
}

void Panels::pack_transposed(std::int64_t depth, std::int64_t columns, std::int64_t n, const Row& row) {
  constexpr std::int64_t kBlock = 16;  // so many rows of B at a time: their lines stay in the cache
  float* to = allocate(depth, columns);
  std::fill_n(to, depth * columns, 0.0f);
  for (std::int64_t p = 0; p < panels(); ++p, to += kPanel * depth) {
    const std::int64_t width = vectors(p) * kLanes;
    std::array<const float*, kPanel> from;
    for (std::int64_t i = 0; i < width; ++i) from[i] = row(p * kPanel + i);
    for (std::int64_t k = 0; k < n; k += kBlock)
      for (std::int64_t i = 0; i < width; ++i)
        for (std::int64_t b = k; from[i] && b < std::min(n, k + kBlock); ++b) to[b * width + i] = from[i][b];
  }
}

LeftMatrix rows_of(const float* data, std::int64_t stride) {
  return {data, stride, kDepth, kDepth};
}

void add_product(std::int64_t rows, const LeftMatrix& a, const Panels& b, std::int64_t panel, float* c,
                 std::int64_t ldc) {
  static_assert(kDepth % kPanel == 0, "a step in depth must not end inside of a run");
  const std::int64_t vectors = b.vectors(panel);
  LeftMatrix left = a;
  for (std::int64_t k = 0; k < b.depth(); k += kDepth, left.data += kDepth / a.run * a.next) {
    const std::int64_t depth = std::min(kDepth, b.depth() - k);
    const auto* packed = reinterpret_cast<const Vector*>(b.panel(panel)) + k * vectors;
    in_tiles(rows, [&](std::int64_t first, std::int64_t count) {
      run_tiles<Product>(count, vectors,
                         {from_row(left, first), depth, packed, vectors, c + first * ldc, ldc});
    });
  }
}

void product(std::int64_t rows, const LeftMatrix& a, const Panels& b, float* c, std::int64_t ldc,
             const float* start) {
  for (std::int64_t first = 0; first < rows; first += kRows) {
    const std::int64_t count = std::min(kRows, rows - first);
    for (std::int64_t p = 0; p < b.panels(); ++p) {
      float* to = c + first * ldc + p * kPanel;
      start_rows(count, b.vectors(p) * kLanes, start ? start + p * kPanel : nullptr, to, ldc);
      add_product(count, from_row(a, first), b, p, to, ldc);
    }
  }
}

void product(std::int64_t rows, const LeftMatrix& a, const Panels& b, const Gates& c, std::int64_t first,
             const float* start) {
  for (std::int64_t row = 0; row < rows; row += kRows) {
    const std::int64_t count = std::min(kRows, rows - row);
    for (std::int64_t p = 0; p < b.panels(); ++p) {
      float* to = c.at(p, first + row);
      start_rows(count, kPanel, start ? start + p * kPanel : nullptr, to, kPanel);
      add_product(count, from_row(a, row), b, p, to, kPanel);
    }
  }
}

void add_outer(const Gates& d, std::int64_t first, std::int64_t last, const float* x, std::int64_t ldx,
               std::int64_t columns, float* sum) {
  constexpr std::int64_t kVectors = kPanel / kLanes;
  for (std::int64_t row = 0; row < d.rows; row += kDepth) {
    const std::int64_t depth = std::min(kDepth, d.rows - row);
    for (std::int64_t panel = first; panel < last; ++panel) {
      const auto* b = reinterpret_cast<const Vector*>(d.at(panel, row));
      float* c = sum + (panel - first) * columns * kPanel;
      in_tiles(columns, [&](std::int64_t from, std::int64_t count) {
        run_tiles<OuterProduct>(
            count, kVectors,
            {rows_of(x + row * ldx + from, ldx), depth, b, kVectors, c + from * kPanel, kPanel});
      });
    }
  }
}

}  // namespace undertext
