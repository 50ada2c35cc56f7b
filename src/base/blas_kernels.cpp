#include "base/blas_kernels.h"

#include <cblas.h>

#include <cstdlib>
#include <string_view>

// Exported by builds of OpenBLAS that choose at run time; others do not have them.
extern "C" {
void gotoblas_dynamic_init() __attribute__((weak));
void gotoblas_dynamic_quit() __attribute__((weak));
}

namespace undertext {
namespace {

// The best that the processor can run, by its name in OpenBLAS; null: nothing better than the oldest.
const char* best_kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

void choose_blas_kernels() {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || std::getenv(kVariable)) return;
  if (std::string_view(openblas_get_corename()) != "Prescott") return;
  const char* best = best_kernels();
  if (!best) return;
  // Chosen anew by the variable, which child processes then start with.
  ::setenv(kVariable, best, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

}  // namespace undertext
