#include "models/gemm.h"

#include <algorithm>

#include "base/threads.h"

namespace undertext {
namespace {

// About this much of c at a time: enough that packing the operands costs little, and so even in number that
// two, four or eight threads share them well.
constexpr std::int64_t kTileRows = 320, kTileColumns = 384, kFewTiles = 8;

std::int64_t pieces_of(std::int64_t n, std::int64_t tile) {
  const std::int64_t pieces = (n + tile - 1) / tile;
  return pieces > 1 ? (pieces + 1) / 2 * 2 : pieces;
}

}  // namespace

void parallel_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::int64_t m, std::int64_t n, std::int64_t k,
                   float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                   float beta, float* c, std::int64_t ldc, const float* bias) {
  std::int64_t down = pieces_of(m, kTileRows), across = pieces_of(n, kTileColumns);
  while (down * across < kFewTiles && n / across >= 128) across *= 2;
  parallel_for(down * across, [&](std::int64_t tile) {
    const std::int64_t i = tile / across, j = tile % across;
    const std::int64_t r = i * m / down, rows = (i + 1) * m / down - r;
    const std::int64_t q = j * n / across, columns = (j + 1) * n / across - q;
    float* out = c + r * ldc + q;
    if (bias)
      for (std::int64_t row = 0; row < rows; ++row) std::copy_n(bias + q, columns, out + row * ldc);
    gemm(ta, tb, rows, columns, k, alpha, ta == CblasNoTrans ? a + r * lda : a + r, lda,
         tb == CblasNoTrans ? b + q : b + q * ldb, ldb, bias ? 1.0f : beta, out, ldc);
  });
}

}  // namespace undertext
