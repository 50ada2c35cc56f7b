#include "base/blas.h"

#include <cblas.h>

#include <algorithm>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr std::int64_t kBlock = 192;  // rows of the result per BLAS call

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double* a, int lda,
          const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <typename T>
void multiply_blocks(const Matrix<T>& a, Transpose ta, const Matrix<T>& b, Transpose tb, Matrix<T>& c,
                     T alpha, T beta) {
  const bool at = ta == Transpose::yes, bt = tb == Transpose::yes;
  const std::int64_t m = at ? a.cols : a.rows, k = at ? a.rows : a.cols;
  const std::int64_t n = bt ? b.rows : b.cols;
  UNDERTEXT_CHECK((bt ? b.cols : b.rows) == k && c.rows == m && c.cols == n);
  if (m == 0 || n == 0) return;
  parallel_for((m + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t from = block * kBlock, size = std::min(kBlock, m - from);
    gemm(at ? CblasTrans : CblasNoTrans, bt ? CblasTrans : CblasNoTrans, static_cast<int>(size),
         static_cast<int>(n), static_cast<int>(k), alpha, at ? a.data.data() + from : a.row(from),
         static_cast<int>(a.cols), b.data.data(), static_cast<int>(b.cols), beta, c.row(from),
         static_cast<int>(n));
  });
}

}  // namespace

void multiply(const Matrix<float>& a, Transpose ta, const Matrix<float>& b, Transpose tb, Matrix<float>& c,
              float alpha, float beta) {
  multiply_blocks(a, ta, b, tb, c, alpha, beta);
}

void multiply(const Matrix<double>& a, Transpose ta, const Matrix<double>& b, Transpose tb, Matrix<double>& c,
              double alpha, double beta) {
  multiply_blocks(a, ta, b, tb, c, alpha, beta);
}

Matrix<double> gram(const Matrix<double>& a) {
  const std::int64_t n = a.rows;
  Matrix<double> g(n, n);
  // The lower triangle by blocks of rows, each up to its own diagonal block.
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  parallel_for(blocks, [&](std::int64_t i) {
    const std::int64_t block = blocks - 1 - i;  // the longest first
    const std::int64_t from = block * kBlock, size = std::min(kBlock, n - from);
    gemm(CblasNoTrans, CblasTrans, static_cast<int>(size), static_cast<int>(from + size),
         static_cast<int>(a.cols), 1.0, a.row(from), static_cast<int>(a.cols), a.data.data(),
         static_cast<int>(a.cols), 0.0, g.row(from), static_cast<int>(n));
  });
  parallel_for(blocks, [&](std::int64_t block) {
    const std::int64_t from = block * kBlock, to = std::min(n, from + kBlock);
    for (std::int64_t i = from; i < to; ++i)
      for (std::int64_t j = i + 1; j < n; ++j) g(i, j) = g(j, i);
  });
  return g;
}

void multiply_by_gram(const Matrix<double>& a, Matrix<double>& g) {
  const std::int64_t n = a.rows;
  UNDERTEXT_CHECK(g.rows == n && g.cols == n);
  parallel_for((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t from = block * kBlock, size = std::min(kBlock, n - from);
    std::vector<double> part(static_cast<std::size_t>(size * n));
    gemm(CblasNoTrans, CblasTrans, static_cast<int>(size), static_cast<int>(n), static_cast<int>(a.cols), 1.0,
         a.row(from), static_cast<int>(a.cols), a.data.data(), static_cast<int>(a.cols), 0.0, part.data(),
         static_cast<int>(n));
    double* out = g.row(from);
    for (std::size_t i = 0; i < part.size(); ++i) out[i] *= part[i];
  });
}

}  // namespace undertext
