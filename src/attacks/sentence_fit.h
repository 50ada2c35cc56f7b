// The non-negative combination of sentences that best explains the output layer's gradient.
//
// A sentence is a path in the prefix tree. Its share of the gradient is the sum over its edges (context c,
// word k) of (p_c - e_k) (x) h~_c, so inner products need no gradients at all:
//   <(c,k), (c',k')> = (h~_c . h~_c') (p_c . p_c' - p_c(k') - p_c'(k) + [k = k'])
// Every node of the tree is a candidate: a sentence may stop anywhere, so lengths need not be known.
#pragma once

#include <span>
#include <vector>

#include "attacks/output_layer.h"
#include "attacks/row_sketch.h"
#include "attacks/search_tree.h"

namespace undertext {

struct SentenceFit {
  std::vector<NodeId> nodes;     // the candidates, with all their ancestors
  std::vector<double> ends;      // how many sentences stop at each node (>= 0)
  std::vector<double> flow;      // how many pass through or stop at each node
  Matrix<float> background;      // B = sum_c a_c p_c (x) h~_c over contexts in use, (words, D)
  Matrix<float> residual;        // gradient minus what the fit explains, (words, D)
  double relative_residual = 1;  // Frobenius norm over that of the gradient
};

struct SentenceFitOptions {
  std::int64_t length = 0;  // when known: sentences stop at this depth only
  double ridge = 1e-8;
};

SentenceFit fit_sentences(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient,
                          const RowSketch& sketch, std::span<const NodeId> candidates,
                          const SentenceFitOptions& options, const SentenceFit* previous);

// sum over nodes of weight * p (x) h~: (words, D).
Matrix<float> expected_rows(const OutputLayer& layer, const Matrix<float>& h,
                            std::span<const double> weights);

}  // namespace undertext
