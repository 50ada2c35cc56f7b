#include "models/transformer/linear.h"

#include <algorithm>
#include <array>

#include "base/threads.h"
#include "models/gemm.h"

namespace undertext {

void linear(const Linear& layer, const float* x, std::int64_t rows, float* y, std::int64_t ldy) {
  const bool first = layer.inputs_first;
  parallel_gemm(CblasNoTrans, first ? CblasNoTrans : CblasTrans, rows, layer.out, layer.in, 1, x, layer.in,
                layer.weight, first ? layer.out : layer.in, 0, y, ldy, layer.bias);
}

void linear_backward(const Linear& layer, const float* dy, std::int64_t rows, std::int64_t ldy, float* dx,
                     bool add) {
  const bool first = layer.inputs_first;
  parallel_gemm(CblasNoTrans, first ? CblasTrans : CblasNoTrans, rows, layer.in, layer.out, 1, dy, ldy,
                layer.weight, first ? layer.out : layer.in, add ? 1.0f : 0.0f, dx, layer.in);
}

void add_linear_gradient(const Linear& layer, const float* x, const float* dy, std::int64_t rows,
                         std::int64_t ldy, const LinearGradient& gradient) {
  const auto scale = static_cast<float>(gradient.scale);
  if (gradient.weight && layer.inputs_first)
    parallel_gemm(CblasTrans, CblasNoTrans, layer.in, layer.out, rows, scale, x, layer.in, dy, ldy, 1,
                  gradient.weight, layer.out);
  else if (gradient.weight)
    parallel_gemm(CblasTrans, CblasNoTrans, layer.out, layer.in, rows, scale, dy, ldy, x, layer.in, 1,
                  gradient.weight, layer.in);
  if (gradient.bias) add_column_sums(dy, rows, layer.out, ldy, gradient.scale, gradient.bias);
}

void add_column_sums(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t ldx, double scale,
                     float* sums) {
  constexpr std::int64_t kColumns = 256;
  parallel_for((columns + kColumns - 1) / kColumns, [&](std::int64_t block) {
    const std::int64_t first = block * kColumns, n = std::min(kColumns, columns - first);
    std::array<double, kColumns> total{};
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* row = x + r * ldx + first;
      for (std::int64_t j = 0; j < n; ++j) total[static_cast<std::size_t>(j)] += row[j];
    }
    for (std::int64_t j = 0; j < n; ++j)
      sums[first + j] = static_cast<float>(sums[first + j] + scale * total[static_cast<std::size_t>(j)]);
  });
}

}  // namespace undertext
