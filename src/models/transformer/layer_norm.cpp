#include "models/transformer/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/threads.h"

namespace undertext {
namespace {

constexpr std::int64_t kRows = 32;  // rows of one piece of work

template <typename Body>
void in_row_blocks(std::int64_t rows, Body body) {
  parallel_for((rows + kRows - 1) / kRows,
               [&](std::int64_t block) { body(block, block * kRows, std::min(rows, (block + 1) * kRows)); });
}

// In eight lanes, which the compiler vectorises; the order is always the same.
template <typename Term>
double sum(std::int64_t n, Term term) {
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::int64_t l = 0; l < 8; ++l) lanes[l] += term(i + l);
  for (; i < n; ++i) lanes[0] += term(i);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void normalise_row(const LayerNorm& norm, const float* x, float mean, float rstd, float* y) {
  for (std::int64_t j = 0; j < norm.width; ++j) y[j] = (x[j] - mean) * rstd * norm.weight[j] + norm.bias[j];
}

}  // namespace

void layer_norm(const LayerNorm& norm, const float* x, std::int64_t rows, float* y, float* statistics) {
  const auto n = static_cast<double>(norm.width);
  in_row_blocks(rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      const float* row = x + r * norm.width;
      const double mean = sum(norm.width, [=](std::int64_t j) { return static_cast<double>(row[j]); }) / n;
      const double variance = sum(norm.width,
                                  [=](std::int64_t j) {
                                    const double centred = row[j] - mean;
                                    return centred * centred;
                                  }) /
                              n;
      statistics[2 * r] = static_cast<float>(mean);
      statistics[2 * r + 1] = static_cast<float>(1 / std::sqrt(variance + norm.epsilon));
      normalise_row(norm, row, statistics[2 * r], statistics[2 * r + 1], y + r * norm.width);
    }
  });
}

void layer_norm_again(const LayerNorm& norm, const float* x, std::int64_t rows, const float* statistics,
                      float* y) {
  in_row_blocks(rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      normalise_row(norm, x + r * norm.width, statistics[2 * r], statistics[2 * r + 1], y + r * norm.width);
  });
}

void layer_norm_backward(const LayerNorm& norm, const float* x, const float* statistics, const float* dy,
                         std::int64_t rows, float* dx, bool add) {
  const std::int64_t n = norm.width;
  in_row_blocks(rows, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    std::vector<float> scaled(static_cast<std::size_t>(n));
    float* g = scaled.data();
    for (std::int64_t r = first; r < last; ++r) {
      const float mean = statistics[2 * r], rstd = statistics[2 * r + 1];
      const float *in = x + r * n, *d = dy + r * n;
      for (std::int64_t j = 0; j < n; ++j) g[j] = d[j] * norm.weight[j];
      const double width = static_cast<double>(n);
      const auto g_mean =
          static_cast<float>(sum(n, [=](std::int64_t j) { return static_cast<double>(g[j]); }) / width);
      const auto g_slope = static_cast<float>(
          sum(n, [=](std::int64_t j) { return static_cast<double>(g[j]) * (in[j] - mean) * rstd; }) / width);
      float* out = dx + r * n;
      for (std::int64_t j = 0; j < n; ++j) {
        const float value = rstd * (g[j] - g_mean - (in[j] - mean) * rstd * g_slope);
        out[j] = add ? out[j] + value : value;
      }
    }
  });
}

void add_layer_norm_gradient(const LayerNorm& norm, const float* x, const float* statistics, const float* dy,
                             std::int64_t rows, const LayerNormGradient& gradient) {
  const std::int64_t n = norm.width, blocks = (rows + kRows - 1) / kRows;
  if (!gradient.weight && !gradient.bias) return;
  std::vector<float> parts(static_cast<std::size_t>(blocks * 2 * n), 0.0f);
  in_row_blocks(rows, [&](std::int64_t block, std::int64_t first, std::int64_t last) {
    float* __restrict dw = parts.data() + block * 2 * n;
    float* __restrict db = dw + n;
    for (std::int64_t r = first; r < last; ++r) {
      const float mean = statistics[2 * r], rstd = statistics[2 * r + 1];
      const float *in = x + r * n, *d = dy + r * n;
      for (std::int64_t j = 0; j < n; ++j) {
        dw[j] += d[j] * (in[j] - mean) * rstd;
        db[j] += d[j];
      }
    }
  });
  for (std::int64_t which = 0; which < 2; ++which) {
    float* out = which == 0 ? gradient.weight : gradient.bias;
    if (!out) continue;
    for (std::int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (std::int64_t block = 0; block < blocks; ++block)
        total += parts[static_cast<std::size_t>((block * 2 + which) * n + j)];
      out[j] = static_cast<float>(out[j] + gradient.scale * total);
    }
  }
}

}  // namespace undertext
