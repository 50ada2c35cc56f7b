// Layer normalisation (Ba, Kiros and Hinton, 2016): y = (x - mean) / sqrt(variance + epsilon) * weight +
// bias, each row by itself.
#pragma once

#include <cstdint>

namespace undertext {

struct LayerNorm {
  std::int64_t width;
  const float* weight;  // (width)
  const float* bias;    // (width)
  double epsilon;
};

struct LayerNormGradient {
  float* weight;  // added to, times scale; null: not wanted
  float* bias;
  double scale;
};

// statistics: (rows, 2), the mean and 1 / deviation of each row, which the way back needs. y may be x.
void layer_norm(const LayerNorm& norm, const float* x, std::int64_t rows, float* y, float* statistics);
// y again, from x and its statistics.
void layer_norm_again(const LayerNorm& norm, const float* x, std::int64_t rows, const float* statistics,
                      float* y);
// dx (rows, width) = the gradient by x, added to what is there when `add`. dx may be dy.
void layer_norm_backward(const LayerNorm& norm, const float* x, const float* statistics, const float* dy,
                         std::int64_t rows, float* dx, bool add);
// The gradient by weight and bias.
void add_layer_norm_gradient(const LayerNorm& norm, const float* x, const float* statistics, const float* dy,
                             std::int64_t rows, const LayerNormGradient& gradient);

}  // namespace undertext
