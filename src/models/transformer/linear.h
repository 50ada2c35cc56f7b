// y = x W + b on many rows, and its gradients.
#pragma once

#include <cstdint>

namespace undertext {

struct Linear {
  std::int64_t in, out;
  const float* weight;  // (in, out) or (out, in)
  const float* bias;    // (out)
  bool inputs_first;    // (in, out)
};

struct LinearGradient {
  float* weight;  // added to, times scale; null: not wanted
  float* bias;
  double scale;
};

// y (rows, out), rows ldy apart.
void linear(const Linear& layer, const float* x, std::int64_t rows, float* y, std::int64_t ldy);

// dy: (rows, out), rows ldy apart. dx (rows, in) = dy W', added to what is there when `add`.
void linear_backward(const Linear& layer, const float* dy, std::int64_t rows, std::int64_t ldy, float* dx,
                     bool add);
// The gradient by weight and bias.
void add_linear_gradient(const Linear& layer, const float* x, const float* dy, std::int64_t rows,
                         std::int64_t ldy, const LinearGradient& gradient);

// sums[j] += scale * sum over rows of x[row][j], in an order that the threads do not change.
void add_column_sums(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t ldx, double scale,
                     float* sums);

}  // namespace undertext
