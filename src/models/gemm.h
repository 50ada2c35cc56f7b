// BLAS products on raw row-major blocks: one on a single thread, for kernels that split their work
// themselves, and one that splits a large product over the threads.
#pragma once

#include <cblas.h>

#include <cstdint>

namespace undertext {

// c (m, n) = alpha * op(a) (m, k) * op(b) (k, n) + beta * c; ld*: distance between rows. k > 0.
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::int64_t m, std::int64_t n, std::int64_t k,
                 float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
                 float* c, std::int64_t ldc) {
  if (m == 0 || n == 0) return;
  cblas_sgemm(CblasRowMajor, ta, tb, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), beta, c, static_cast<int>(ldc));
}

// The same on all threads, cut into tiles of c whose number depends on the shape alone. bias: n numbers that
// each row of c starts from, in place of beta * c; null: none.
void parallel_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::int64_t m, std::int64_t n, std::int64_t k,
                   float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                   float beta, float* c, std::int64_t ldc, const float* bias = nullptr);

}  // namespace undertext
