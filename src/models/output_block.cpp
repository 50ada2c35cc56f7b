#include "models/output_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/threads.h"
#include "models/dot.h"
#include "models/fast_math.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr std::int64_t kWords = 512;  // vocabulary per block: with 128 contexts 256 KB, which stay in L2
constexpr std::int64_t kGroups = 8;   // groups of such blocks, the pieces that threads take
constexpr std::int64_t kLanes = 16;

// row += bias (null: none); returns the maximum.
float add_bias(float* __restrict row, const float* __restrict bias, std::int64_t n) {
  static constexpr std::array<float, kWords> kNone{};
  if (!bias) bias = kNone.data();
  // So many running maxima that the compiler keeps the inner loop, and vectorises it.
  constexpr std::int64_t kMaxima = 64;
  std::array<float, kMaxima> maxima;
  maxima.fill(-INFINITY);
  std::int64_t j = 0;
  for (; j + kMaxima <= n; j += kMaxima)
    for (std::int64_t l = 0; l < kMaxima; ++l) {
      const float x = row[j + l] + bias[j + l];
      row[j + l] = x;
      maxima[l] = x > maxima[l] ? x : maxima[l];
    }
  float maximum = *std::max_element(maxima.begin(), maxima.end());
  for (; j < n; ++j) {
    row[j] += bias[j];
    maximum = std::max(maximum, row[j]);
  }
  return maximum;
}

// row = exp(row - maximum); returns the sum.
float exponentiate(float* __restrict row, float maximum, std::int64_t n) {
  std::array<float, kLanes> lanes{};
  std::int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) {
      const float e = fast_exp(row[j + l] - maximum);
      row[j + l] = e;
      lanes[l] += e;
    }
  double sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; j < n; ++j) {
    row[j] = fast_exp(row[j] - maximum);
    sum += row[j];
  }
  return static_cast<float>(sum);
}

// row *= factor. What would come near the denormals, where arithmetic is slow, becomes zero.
void scale_row(float* __restrict row, float factor, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    const float p = row[j] * factor;
    row[j] = std::fabs(p) < 1e-30f ? 0.0f : p;
  }
}

// sums[j] = sum over rows of d[row][j]: eight at a time in float32, these in double.
void sum_columns(const float* __restrict d, std::int64_t rows, std::int64_t n, double* __restrict sums) {
  std::fill(sums, sums + n, 0.0);
  std::int64_t r = 0;
  for (; r + 8 <= rows; r += 8) {
    const float* __restrict x = d + r * n;
    for (std::int64_t j = 0; j < n; ++j) {
      const float a = (x[j] + x[j + n]) + (x[j + 2 * n] + x[j + 3 * n]);
      const float b = (x[j + 4 * n] + x[j + 5 * n]) + (x[j + 6 * n] + x[j + 7 * n]);
      sums[j] += static_cast<double>(a) + static_cast<double>(b);
    }
  }
  for (; r < rows; ++r)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += static_cast<double>(d[r * n + j]);
}

}  // namespace

OutputBlock::OutputBlock(const OutputWeights& output, const float* h, const Targets& targets,
                         std::int64_t first, std::int64_t rows, double* log_probability, OutputPass pass,
                         OutputWorkspace& workspace)
    : output_(output),
      h_(h + first * output.embedding),
      targets_(targets),
      first_(first),
      rows_(rows),
      blocks_((output.vocabulary + kWords - 1) / kWords),
      log_probability_(log_probability),
      pass_(pass),
      exponentials_(workspace.exponentials.floats(
          rows * (pass != OutputPass::likelihoods ? output.vocabulary : kGroups * kWords))),
      maxima_(workspace.maxima.floats(rows * blocks_)),
      sums_(workspace.sums.floats(rows * blocks_)) {}

template <typename Body>
void OutputBlock::for_blocks(std::int64_t group, Body body) const {
  for (std::int64_t b = group * blocks_ / kGroups; b < (group + 1) * blocks_ / kGroups; ++b) body(b);
}

std::int64_t OutputBlock::width(std::int64_t block) const {
  return std::min(kWords, output_.vocabulary - block * kWords);
}

float* OutputBlock::exponentials(std::int64_t block) const {
  return exponentials_ + block * kWords * rows_;
}

void OutputBlock::forward(double* log_total) {
  parallel_for(kGroups, [&](std::int64_t group) {
    // Without a way back nothing is read again: one block's place serves the whole group.
    for_blocks(group, [&](std::int64_t block) {
      exponentials_of(block, exponentials(pass_ != OutputPass::likelihoods ? block : group));
    });
  });
  for (std::int64_t r = 0; r < rows_; ++r) {
    const double total = normalise(r);
    if (log_total) log_total[first_ + r] = total;
  }
}

void OutputBlock::backward(const OutputGradient& gradient, OutputWorkspace& workspace) {
  const std::int64_t size = rows_ * output_.embedding;
  float* parts = workspace.h_parts.floats(kGroups * size);  // (groups, rows, E)
  parallel_for(kGroups, [&](std::int64_t group) {
    float beta = 0;
    for_blocks(group, [&](std::int64_t block) {
      gradient_of(block, gradient, parts + group * size, beta);
      beta = 1;
    });
    if (beta == 0) std::memset(parts + group * size, 0, static_cast<std::size_t>(size) * sizeof(float));
  });
  sum_parts(parts, gradient.h + first_ * output_.embedding);
}

void OutputBlock::sum_parts(const float* parts, float* sums) const {
  const std::int64_t size = rows_ * output_.embedding;
  for (std::int64_t i = 0; i < size; ++i) {
    float sum = parts[i];
    for (std::int64_t group = 1; group < kGroups; ++group) sum += parts[group * size + i];
    sums[i] = sum;
  }
}

// Logits of one block of words, (rows, width), as exponentials relative to each row's maximum in the block.
void OutputBlock::exponentials_of(std::int64_t block, float* x) {
  const std::int64_t n = width(block), word = block * kWords, e = output_.embedding;
  gemm(CblasNoTrans, CblasTrans, rows_, n, e, 1, h_, e, output_.weight + word * e, e, 0, x, n);
  for (std::int64_t r = 0; r < rows_; ++r) {
    float* row = x + r * n;
    const float maximum = add_bias(row, output_.bias ? output_.bias + word : nullptr, n);
    for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1]; ++i) {
      const std::int64_t k = targets_.target[i] - word;
      if (k >= 0 && k < n) log_probability_[i] = row[k];  // the logit, for now
    }
    maxima_[r * blocks_ + block] = maximum;
    sums_[r * blocks_ + block] = exponentiate(row, maximum, n);
  }
}

// Turns the row's sums into the factors that make its exponentials gradients of the logits, count * p, or
// just p, and its targets' logits into log p. Returns log sum exp of its logits.
double OutputBlock::normalise(std::int64_t r) {
  float* maxima = maxima_ + r * blocks_;
  float* sums = sums_ + r * blocks_;
  const double maximum = *std::max_element(maxima, maxima + blocks_);
  double total = 0;
  for (std::int64_t b = 0; b < blocks_; ++b) total += sums[b] * std::exp(maxima[b] - maximum);
  const double log_total = maximum + std::log(total);
  for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1]; ++i)
    log_probability_[i] -= log_total;
  const float count = pass_ == OutputPass::probabilities ? 1 : targets_.row_count[first_ + r];
  for (std::int64_t b = 0; b < blocks_; ++b)
    sums[b] = static_cast<float>(count * std::exp(maxima[b] - maximum) / total);
  return log_total;
}

void OutputBlock::gradient_of(std::int64_t block, const OutputGradient& gradient, float* h_part, float beta) {
  const std::int64_t n = width(block), word = block * kWords, e = output_.embedding;
  float* d = exponentials(block);  // becomes d loss / d logits: (rows, width)
  for (std::int64_t r = 0; r < rows_; ++r) {
    scale_row(d + r * n, sums_[r * blocks_ + block], n);
    for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1]; ++i) {
      const std::int64_t k = targets_.target[i] - word;
      if (k >= 0 && k < n) d[r * n + k] -= targets_.target_count[i];
    }
  }
  // The weight is read here and written below: that order is what allows a step in place.
  gemm(CblasNoTrans, CblasNoTrans, rows_, e, n, 1, d, n, output_.weight + word * e, e, beta, h_part, e);
  if (gradient.weight)
    gemm(CblasTrans, CblasNoTrans, n, e, rows_, static_cast<float>(gradient.scale), d, n, h_, e, 1,
         gradient.weight + word * e, e);
  if (gradient.bias) {
    std::array<double, kWords> sums;
    sum_columns(d, rows_, n, sums.data());
    float* bias = gradient.bias + word;
    for (std::int64_t j = 0; j < n; ++j) bias[j] = static_cast<float>(bias[j] + gradient.scale * sums[j]);
  }
}

void OutputBlock::expect(std::span<const RowPair> pairs, double* products, float* expected,
                         OutputWorkspace& workspace) {
  const std::int64_t e = output_.embedding, size = rows_ * e;
  float* parts = workspace.h_parts.floats(kGroups * size);  // (groups, rows, E)
  std::vector<double> sums(static_cast<std::size_t>(kGroups) * pairs.size(), 0.0);
  parallel_for(kGroups, [&](std::int64_t group) {
    float beta = 0;
    double* const own = sums.data() + static_cast<std::size_t>(group) * pairs.size();
    for_blocks(group, [&](std::int64_t block) {
      const std::int64_t n = width(block), word = block * kWords;
      float* p = exponentials(block);
      for (std::int64_t r = 0; r < rows_; ++r) scale_row(p + r * n, sums_[r * blocks_ + block], n);
      for (std::size_t i = 0; i < pairs.size(); ++i)
        own[i] += dot_in_double(p + pairs[i].first * n, p + pairs[i].second * n, n);
      gemm(CblasNoTrans, CblasNoTrans, rows_, e, n, 1, p, n, output_.weight + word * e, e, beta,
           parts + group * size, e);
      beta = 1;
    });
    if (beta == 0) std::memset(parts + group * size, 0, static_cast<std::size_t>(size) * sizeof(float));
  });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    products[i] = 0;
    for (std::int64_t group = 0; group < kGroups; ++group)
      products[i] += sums[static_cast<std::size_t>(group) * pairs.size() + i];
  }
  sum_parts(parts, expected);
}

float OutputBlock::probability(std::int64_t row, Token word) const {
  const std::int64_t block = word / kWords;
  return exponentials(block)[row * width(block) + word % kWords];
}

void OutputBlock::add_weighted(const TargetWeights& weights, float* weight, float* bias) const {
  const std::int64_t e = output_.embedding;
  std::vector<float> weighted(static_cast<std::size_t>(rows_ * e));  // h, each row times its weight
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t j = 0; j < e; ++j) weighted[r * e + j] = weights.rows[r] * h_[r * e + j];
  parallel_for(kGroups, [&](std::int64_t group) {
    for_blocks(group, [&](std::int64_t block) {
      const std::int64_t n = width(block), word = block * kWords;
      const float* p = exponentials(block);
      if (weight)
        gemm(CblasTrans, CblasNoTrans, n, e, rows_, 1, p, n, weighted.data(), e, 1, weight + word * e, e);
      if (!bias) return;
      std::array<double, kWords> sums{};
      for (std::int64_t r = 0; r < rows_; ++r)
        for (std::int64_t j = 0; j < n; ++j) sums[j] += static_cast<double>(weights.rows[r] * p[r * n + j]);
      for (std::int64_t j = 0; j < n; ++j) bias[word + j] = static_cast<float>(bias[word + j] + sums[j]);
    });
  });
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1]; ++i) {
      const Token word = targets_.target[i];
      if (weight)
        for (std::int64_t j = 0; j < e; ++j) weight[word * e + j] -= weights.targets[i] * h_[r * e + j];
      if (bias) bias[word] -= weights.targets[i];
    }
}

}  // namespace undertext
