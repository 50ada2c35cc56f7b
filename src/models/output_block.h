// One block of contexts through the output layer, there and back: what output_layer() is made of, for those
// who have to look at the probabilities in between.
#pragma once

#include <cstdint>
#include <span>

#include "models/output_layer.h"

namespace undertext {

// How much each context and each word after it counts, where that is known only once the probabilities are.
struct TargetWeights {
  std::span<const float> rows;     // of each row, the sum of those of its targets
  std::span<const float> targets;  // of each target, its count included
};

// What is done after forward(): nothing; backward(); expect() and add_weighted().
enum class OutputPass { likelihoods, gradient, probabilities };

class OutputBlock {
 public:
  // Rows [first, first + rows) of the targets. log_probability: of each target of all rows.
  OutputBlock(const OutputWeights& output, const float* h, const Targets& targets, std::int64_t first,
              std::int64_t rows, double* log_probability, OutputPass pass, OutputWorkspace& workspace);

  // Logits, and log p of the targets. log_total: of each row, when it is asked for.
  void forward(double* log_total = nullptr);
  void backward(const OutputGradient& gradient, OutputWorkspace& workspace);

  // The way back in two parts. First: the exponentials become probabilities, and
  // expected (rows, E) what they give of the output weight, sum_k p_k W_k: d (-log p of word k) / dh is that
  // less W_k. products: sum_k p_k p'_k for each pair of rows, counted within the block.
  using RowPair = std::pair<std::int32_t, std::int32_t>;
  void expect(std::span<const RowPair> pairs, double* products, float* expected, OutputWorkspace& workspace);
  float probability(std::int64_t row, Token word) const;
  // Then: the gradient of sum_{row, word} weight * -log p(word | row) to the weight and the bias.
  // Null: not wanted.
  void add_weighted(const TargetWeights& weights, float* weight, float* bias) const;

 private:
  template <typename Body>
  void for_blocks(std::int64_t group, Body body) const;
  std::int64_t width(std::int64_t block) const;
  float* exponentials(std::int64_t block) const;
  void exponentials_of(std::int64_t block, float* x);
  double normalise(std::int64_t r);
  void gradient_of(std::int64_t block, const OutputGradient& gradient, float* h_part, float beta);
  void sum_parts(const float* parts, float* sums) const;

  const OutputWeights& output_;
  const float* h_;  // (rows, E)
  const Targets& targets_;
  std::int64_t first_, rows_, blocks_;
  double* log_probability_;  // per target of all rows
  OutputPass pass_;
  float* exponentials_;  // (blocks, rows, words of the block); without a gradient one block per group
  float* maxima_;        // (rows, blocks)
  float* sums_;          // (rows, blocks); after normalise() the factors that make exponentials probabilities
};

}  // namespace undertext
