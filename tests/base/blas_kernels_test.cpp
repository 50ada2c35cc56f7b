#include "base/blas_kernels.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/blas.h"
#include "base/random.h"
#include "base/threads.h"

namespace undertext {
namespace {

TEST(BlasKernels, AreNotTheOldestWhereTheProcessorIsNewer) {
  set_threads(1);
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "an old processor";
  EXPECT_NE(std::string(openblas_get_corename()), "Prescott");
#endif
  set_threads(0);
}

TEST(BlasKernels, MultiplyRightAfterTheyWereChosen) {
  choose_blas_kernels();
  Matrix<float> a(67, 129), b(129, 45), c(67, 45);
  Random random(Seed(4));
  for (float& value : a.data) value = static_cast<float>(random.normal());
  for (float& value : b.data) value = static_cast<float>(random.normal());
  multiply(a, Transpose::no, b, Transpose::no, c, 1.0f, 0.0f);
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < a.cols; ++k) sum += static_cast<double>(a(i, k)) * b(k, j);
      EXPECT_NEAR(c(i, j), sum, 1e-4);
    }
}

}  // namespace
}  // namespace undertext
