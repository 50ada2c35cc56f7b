#include "models/char_lstm/decoder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/fast_math.h"

namespace undertext {
namespace {

// logits (n) become exponentials relative to their maximum; returns log p of the target. total: their sum.
double softmax(float* __restrict logits, std::int64_t n, Token target, double& total) {
  constexpr std::int64_t kSums = 16;
  const float maximum = *std::max_element(logits, logits + n);
  const double logit = logits[target];
  std::array<float, kSums> sums{};
  std::int64_t j = 0;
  for (; j + kSums <= n; j += kSums)
    for (std::int64_t l = 0; l < kSums; ++l) {
      logits[j + l] = fast_exp(logits[j + l] - maximum);
      sums[l] += logits[j + l];
    }
  total = 0;
  for (; j < n; ++j) {
    logits[j] = fast_exp(logits[j] - maximum);
    total += logits[j];
  }
  for (const float sum : sums) total += sum;
  return logit - maximum - std::log(total);
}

}  // namespace

void decode(const PackedWeights& weights, const Decoding& rows, Buffer& scratch) {
  constexpr std::int64_t kRows = 192;
  const std::int64_t n = static_cast<std::int64_t>(rows.target.size()), v = weights.vocabulary;
  float* block = rows.d_logits ? nullptr : scratch.floats(kRows * v);
  for (std::int64_t first = 0; first < n; first += kRows) {
    const std::int64_t count = std::min(kRows, n - first);
    float* logits = rows.d_logits ? rows.d_logits + first * v : block;
    product(count, rows_of(rows.h + first * weights.units, weights.units), weights.decoder, logits, v,
            weights.decoder_bias());
    for (std::int64_t r = 0; r < count; ++r) {
      float* row = logits + r * v;
      const auto at = static_cast<std::size_t>(first + r);
      double total = 0;
      rows.log_probability[at] = softmax(row, weights.characters, rows.target[at], total);
      if (!rows.d_logits) continue;
      const auto factor = static_cast<float>(rows.weight[at] / total);
      for (std::int64_t j = 0; j < weights.characters; ++j) {
        const float p = row[j] * factor;
        row[j] = std::fabs(p) < 1e-30f ? 0.0f : p;  // near the denormals, arithmetic is slow
      }
      row[rows.target[at]] -= rows.weight[at];
    }
    if (rows.d_h)
      product(count, rows_of(logits, v), weights.decoder_back, rows.d_h + first * weights.units,
              weights.units);
  }
}

}  // namespace undertext
