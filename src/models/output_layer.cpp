#include "models/output_layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/threads.h"
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
    row[j] = p < 1e-30f ? 0.0f : p;
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

// One block of contexts, rows [first, first + rows) of the targets.
class Block {
 public:
  Block(const OutputWeights& output, const float* h, const Targets& targets, std::int64_t first,
        std::int64_t rows, double* log_probability, bool with_gradient, OutputWorkspace& workspace)
      : output_(output),
        h_(h + first * output.embedding),
        targets_(targets),
        first_(first),
        rows_(rows),
        blocks_((output.vocabulary + kWords - 1) / kWords),
        log_probability_(log_probability),
        with_gradient_(with_gradient),
        exponentials_(
            workspace.exponentials.floats(rows * (with_gradient ? output.vocabulary : kGroups * kWords))),
        maxima_(workspace.maxima.floats(rows * blocks_)),
        sums_(workspace.sums.floats(rows * blocks_)) {}

  // log_total: of each row, when it is asked for.
  void forward(double* log_total = nullptr) {
    parallel_for(kGroups, [&](std::int64_t group) {
      // Without a way back nothing is read again: one block's place serves the whole group.
      for_blocks(group, [&](std::int64_t block) {
        exponentials_of(block, with_gradient_ ? exponentials(block) : exponentials(group));
      });
    });
    for (std::int64_t r = 0; r < rows_; ++r) {
      const double total = normalise(r);
      if (log_total) log_total[first_ + r] = total;
    }
  }

  void backward(const OutputGradient& gradient, OutputWorkspace& workspace) {
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
    float* dh = gradient.h + first_ * output_.embedding;
    for (std::int64_t i = 0; i < size; ++i) {
      float sum = parts[i];
      for (std::int64_t group = 1; group < kGroups; ++group) sum += parts[group * size + i];
      dh[i] = sum;
    }
  }

 private:
  template <typename Body>
  void for_blocks(std::int64_t group, Body body) const {
    for (std::int64_t b = group * blocks_ / kGroups; b < (group + 1) * blocks_ / kGroups; ++b) body(b);
  }
  std::int64_t width(std::int64_t block) const {
    return std::min(kWords, output_.vocabulary - block * kWords);
  }
  float* exponentials(std::int64_t block) const { return exponentials_ + block * kWords * rows_; }

  // Logits of one block of words, (rows, width), as exponentials relative to each row's maximum in the block.
  void exponentials_of(std::int64_t block, float* x) {
    const std::int64_t n = width(block), word = block * kWords, e = output_.embedding;
    gemm(CblasNoTrans, CblasTrans, rows_, n, e, 1, h_, e, output_.weight + word * e, e, 0, x, n);
    for (std::int64_t r = 0; r < rows_; ++r) {
      float* row = x + r * n;
      const float maximum = add_bias(row, output_.bias ? output_.bias + word : nullptr, n);
      for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1];
           ++i) {
        const std::int64_t k = targets_.target[i] - word;
        if (k >= 0 && k < n) log_probability_[i] = row[k];  // the logit, for now
      }
      maxima_[r * blocks_ + block] = maximum;
      sums_[r * blocks_ + block] = exponentiate(row, maximum, n);
    }
  }

  // Turns the row's sums into the factors that make its exponentials gradients of the logits,
  // count * p, and its targets' logits into log p. Returns log sum exp of its logits.
  double normalise(std::int64_t r) {
    float* maxima = maxima_ + r * blocks_;
    float* sums = sums_ + r * blocks_;
    const double maximum = *std::max_element(maxima, maxima + blocks_);
    double total = 0;
    for (std::int64_t b = 0; b < blocks_; ++b) total += sums[b] * std::exp(maxima[b] - maximum);
    const double log_total = maximum + std::log(total);
    for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1]; ++i)
      log_probability_[i] -= log_total;
    for (std::int64_t b = 0; b < blocks_; ++b)
      sums[b] = static_cast<float>(targets_.row_count[first_ + r] * std::exp(maxima[b] - maximum) / total);
    return log_total;
  }

  void gradient_of(std::int64_t block, const OutputGradient& gradient, float* h_part, float beta) {
    const std::int64_t n = width(block), word = block * kWords, e = output_.embedding;
    float* d = exponentials(block);  // becomes d loss / d logits: (rows, width)
    for (std::int64_t r = 0; r < rows_; ++r) {
      scale_row(d + r * n, sums_[r * blocks_ + block], n);
      for (std::int64_t i = targets_.target_begin[first_ + r]; i < targets_.target_begin[first_ + r + 1];
           ++i) {
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

  const OutputWeights& output_;
  const float* h_;  // (rows, E)
  const Targets& targets_;
  std::int64_t first_, rows_, blocks_;
  double* log_probability_;  // per target of all rows
  bool with_gradient_;
  float* exponentials_;  // (blocks, rows, words of the block); without a gradient one block per group
  float* maxima_;        // (rows, blocks)
  float* sums_;          // (rows, blocks); factors after normalise()
};

}  // namespace

std::int64_t rows_per_block(std::int64_t vocabulary) {
  // 16 MB of exponentials, but not less rows than keep the products efficient.
  return std::max<std::int64_t>(256, (std::int64_t{4} << 20) / vocabulary);
}

void output_layer(const OutputWeights& output, const float* h, const Targets& targets,
                  double* log_probability, const OutputGradient* gradient, OutputWorkspace& workspace) {
  const std::int64_t most = rows_per_block(output.vocabulary);
  const std::int64_t pieces = (targets.rows() + most - 1) / most;  // of about equal size
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t first = piece * targets.rows() / pieces, last = (piece + 1) * targets.rows() / pieces;
    Block block(output, h, targets, first, last - first, log_probability, gradient != nullptr, workspace);
    block.forward();
    if (gradient) block.backward(*gradient, workspace);
  }
}

void log_normalisers(const OutputWeights& output, const float* h, std::int64_t rows, double* log_total,
                     OutputWorkspace& workspace) {
  Targets none;  // rows that nothing is known to follow
  none.target_begin.assign(static_cast<std::size_t>(rows) + 1, 0);
  none.row_count.assign(static_cast<std::size_t>(rows), 0.0f);
  const std::int64_t most = rows_per_block(output.vocabulary);
  for (std::int64_t first = 0; first < rows; first += most)
    Block(output, h, none, first, std::min(most, rows - first), nullptr, false, workspace).forward(log_total);
}

}  // namespace undertext
