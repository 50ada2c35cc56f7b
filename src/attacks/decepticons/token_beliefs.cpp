#include "attacks/decepticons/token_beliefs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "attacks/decepticons/correlation.h"
#include "base/threads.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr float kExact = 1 - 3e-4f;  // of the correlation of a row with its token and place

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// norm(token + position) of every slot, where rows hold it: on these entries the norm only shifts and scales.
Matrix<float> explanations(const PlacedTokens& placed) {
  const std::int64_t d = placed.model.config().width;
  const TransformerWeights weights = placed.model.weights();
  Matrix<float> out(static_cast<std::int64_t>(placed.tokens.size()), placed.rows.cols);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const float* token = weights.token_embedding + placed.tokens[at(i)] * d + placed.code;
    const float* place = weights.position_embedding + i % placed.shape.length * d + placed.code;
    float* to = out.row(i);
    for (std::int64_t j = 0; j < out.cols; ++j) to[j] = token[j] + place[j];
    standardise(to, out.cols);
  }
  return out;
}

// The best correlation of each row of `a` with any of `b`, both standardised.
std::vector<float> best_correlations(const Matrix<float>& a, const Matrix<float>& b) {
  constexpr std::int64_t kRows = 64, kOthers = 512;
  std::vector<float> best(at(a.rows), 0.0f);
  parallel_for((a.rows + kRows - 1) / kRows, [&](std::int64_t block) {
    const std::int64_t first = block * kRows, count = std::min(kRows, a.rows - first);
    std::vector<float> products(at(kRows * kOthers));
    for (std::int64_t other = 0; other < b.rows; other += kOthers) {
      const std::int64_t others = std::min(kOthers, b.rows - other);
      gemm(CblasNoTrans, CblasTrans, count, others, a.cols, 1, a.row(first), a.cols, b.row(other), b.cols, 0,
           products.data(), kOthers);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t k = 0; k < others; ++k)
          best[at(first + i)] = std::max(best[at(first + i)], products[at(i * kOthers + k)]);
    }
  });
  return best;
}

float product(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

DecepticonRecovery beliefs_of(const PlacedTokens& placed) {
  const std::int64_t length = placed.shape.length;
  const Matrix<float> explained = explanations(placed);
  const std::vector<float> best = best_correlations(explained, placed.rows);
  DecepticonRecovery recovery;
  recovery.length = length;
  for (std::int64_t s = 0; s < placed.shape.sequences; ++s) {
    RecoveredSequence sequence;
    for (std::int64_t i = s * length; i < (s + 1) * length; ++i) {
      const Slot& slot = placed.slots[at(i)];
      sequence.ids.push_back(placed.tokens[at(i)]);
      sequence.confidence.push_back(std::min(1.0, static_cast<double>(best[at(i)])));
      const bool exact = slot.row >= 0 && !slot.repeated &&
                         product(explained.row(i), placed.rows.row(slot.row), explained.cols) > kExact;
      sequence.certified.push_back(exact);
    }
    recovery.sequences.push_back(std::move(sequence));
  }
  return recovery;
}

}  // namespace undertext
