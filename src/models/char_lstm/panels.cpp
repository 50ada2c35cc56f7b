#include "models/char_lstm/panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace undertext {
namespace {

// may_alias: the numbers are written and read as floats elsewhere.
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float)), may_alias));

// As many vectors as they have numbers.
using Square = Vector[kLanes];

// Swaps the off-diagonal halves of each square of 2 S numbers.
template <std::int64_t S, std::size_t... I>
void swap_halves(Square& x, std::index_sequence<I...>) {
  for (std::int64_t r = 0; r < kLanes; ++r) {
    if (r & S) continue;
    const Vector a = x[r], b = x[r + S];
    x[r] = __builtin_shufflevector(a, b, (I & S ? I - S + kLanes : I)...);
    x[r + S] = __builtin_shufflevector(a, b, (I & S ? I + kLanes : I + S)...);
  }
}

template <std::int64_t S = 1>
void transpose(Square& x) {
  swap_halves<S>(x, std::make_index_sequence<kLanes>());
  if constexpr (2 * S < kLanes) transpose<2 * S>(x);
}

// Rows of c that are held in registers at once, two vectors of each: 24 of the 32 registers of AVX-512, 12 of
// the 16 of its predecessors. Tall tiles read B seldom: it comes from the second-level cache.
constexpr int kTileRows = kLanes == 16 ? 12 : 6;

// Rows of B between two visits of the same part of c: that much of a panel stays in the cache for all rows.
constexpr std::int64_t kDepth = 256;
// Rows of A for which all panels are visited: they stay in the cache meanwhile.
constexpr std::int64_t kRows = 192;

// c (Rows, Vectors) = start + a b over `depth` rows of b, which lie ldb vectors apart.
struct TileArguments {
  LeftMatrix a;
  std::int64_t depth;
  const Vector* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
  const float* start;  // may be c itself
  std::int64_t ld_start;
};

template <int Rows, int Vectors>
void load(const TileArguments& t, Vector (&sum)[Rows][Vectors]) {
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = reinterpret_cast<const Vector*>(t.start + r * t.ld_start)[v];
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
  for (std::int64_t v = 0; v < vectors; v += 2, t.b += 2, t.c += 2 * kLanes, t.start += 2 * kLanes)
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

LeftMatrix from_row(LeftMatrix a, std::int64_t row) {
  a.data += row * a.row;
  return a;
}

// c = start + a times one panel of b. Rows of start lie ld_start apart; it may be c.
void set_product(std::int64_t rows, const LeftMatrix& a, const Panels& b, std::int64_t panel,
                 const float* start, std::int64_t ld_start, float* c, std::int64_t ldc) {
  static_assert(kDepth % kPanel == 0, "a step in depth must not end inside of a run");
  const std::int64_t vectors = b.vectors(panel);
  LeftMatrix left = a;
  for (std::int64_t k = 0; k < b.depth(); k += kDepth, left.data += kDepth / a.run * a.next) {
    const std::int64_t depth = std::min(kDepth, b.depth() - k);
    const auto* packed = reinterpret_cast<const Vector*>(b.panel(panel)) + k * vectors;
    in_tiles(rows, [&](std::int64_t first, std::int64_t count) {
      run_tiles<Product>(count, vectors,
                         {from_row(left, first), depth, packed, vectors, c + first * ldc, ldc,
                          start + first * ld_start, ld_start});
    });
    start = c;
    ld_start = ldc;
  }
}

// The same with `start` (columns of b) in every row; null: zeros.
void set_product_from(std::int64_t rows, const LeftMatrix& a, const Panels& b, std::int64_t panel,
                      const float* start, float* c, std::int64_t ldc) {
  alignas(kLanes * sizeof(float)) static constexpr std::array<float, kPanel> kZeros{};
  set_product(rows, a, b, panel, start ? start + panel * kPanel : kZeros.data(), 0, c, ldc);
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
  float* to = allocate(depth, columns);
  for (std::int64_t p = 0; p < panels(); ++p, to += kPanel * depth) {
    const std::int64_t width = vectors(p) * kLanes;
    for (std::int64_t i = 0; i < width; i += kLanes) {
      std::array<const float*, kLanes> from;
      for (std::int64_t l = 0; l < kLanes; ++l) from[l] = row(p * kPanel + i + l);
      for (std::int64_t k = 0; k < depth; k += kLanes) {
        Square block;
        for (std::int64_t l = 0; l < kLanes; ++l) {
          block[l] = Vector{};
          const std::int64_t left = from[l] ? std::min(n - k, kLanes) : 0;
          if (left > 0) std::memcpy(&block[l], from[l] + k, static_cast<std::size_t>(left) * sizeof(float));
        }
        transpose(block);
        for (std::int64_t b = 0; b < std::min(kLanes, depth - k); ++b)
          *reinterpret_cast<Vector*>(to + (k + b) * width + i) = block[b];
      }
    }
  }
}

void add_columns(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t n,
                 double* __restrict sums) {
  std::int64_t r = 0;
  for (; r + 8 <= rows; r += 8) {
    const float* __restrict y = x + r * stride;
    for (std::int64_t j = 0; j < n; ++j) {
      const float a = (y[j] + y[j + stride]) + (y[j + 2 * stride] + y[j + 3 * stride]);
      const float b = (y[j + 4 * stride] + y[j + 5 * stride]) + (y[j + 6 * stride] + y[j + 7 * stride]);
      sums[j] += static_cast<double>(a) + static_cast<double>(b);
    }
  }
  for (; r < rows; ++r)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += x[r * stride + j];
}

LeftMatrix rows_of(const float* data, std::int64_t stride) {
  return {data, stride, kDepth, kDepth};
}

void add_product(std::int64_t rows, const LeftMatrix& a, const Panels& b, std::int64_t panel, float* c,
                 std::int64_t ldc) {
  set_product(rows, a, b, panel, c, ldc, c, ldc);
}

void product(std::int64_t rows, const LeftMatrix& a, const Panels& b, float* c, std::int64_t ldc,
             const float* start) {
  for (std::int64_t row = 0; row < rows; row += kRows)
    for (std::int64_t p = 0; p < b.panels(); ++p)
      set_product_from(std::min(kRows, rows - row), from_row(a, row), b, p, start, c + row * ldc + p * kPanel,
                       ldc);
}

void product(std::int64_t rows, const LeftMatrix& a, const Panels& b, const Gates& c, std::int64_t first,
             const float* start) {
  for (std::int64_t row = 0; row < rows; row += kRows)
    for (std::int64_t p = 0; p < b.panels(); ++p)
      set_product_from(std::min(kRows, rows - row), from_row(a, row), b, p, start, c.at(p, first + row),
                       kPanel);
}

void add_outer(const Gates& d, std::int64_t first, std::int64_t last, const float* x, std::int64_t ldx,
               std::int64_t columns, float* sum, double* row_sums) {
  for (std::int64_t row = 0; row < d.rows; row += kDepth) {
    const std::int64_t depth = std::min(kDepth, d.rows - row);
    const auto* b = reinterpret_cast<const Vector*>(x + row * ldx);
    for (std::int64_t panel = first; panel < last; ++panel) {
      float* to = sum + (panel - first) * kPanel * columns;
      in_tiles(kPanel, [&](std::int64_t from, std::int64_t count) {
        float* c = to + from * columns;
        run_tiles<OuterProduct>(
            count, columns / kLanes,
            {rows_of(d.at(panel, row) + from, kPanel), depth, b, ldx / kLanes, c, columns, c, columns});
      });
      if (row_sums) add_columns(d.at(panel, row), depth, kPanel, kPanel, row_sums + (panel - first) * kPanel);
    }
  }
}

}  // namespace undertext
