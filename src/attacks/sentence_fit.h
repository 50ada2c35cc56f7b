// The non-negative combination of sentences that best explains the output layer's gradient.
//
// A sentence is a path in the prefix tree. Its share of the gradient is the sum over its edges (context c,
// word k) of (p_c - e_k) (x) h~_c, so inner products need no gradients at all:
//   <(c,k), (c',k')> = (h~_c . h~_c') (p_c . p_c' - p_c(k') - p_c'(k) + [k = k'])
// Every node of the tree is a candidate: a sentence may stop anywhere, so lengths need not be known.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "attacks/context_table.h"

namespace undertext {

struct SentenceFit {
  std::vector<NodeId> nodes;     // the candidates, with all their ancestors
  std::vector<double> ends;      // how many sentences stop at each node (>= 0)
  std::vector<double> flow;      // how many pass through or stop at each node
  Matrix<float> background;      // B = sum_c a_c p_c (x) h~_c over contexts in use, (sketch rows, D)
  Matrix<double> residual;       // the gradient less what the fit explains, (sketch rows, D)
  double relative_residual = 1;  // what is not explained: Frobenius norm over that of the gradient
};

struct SentenceFitOptions {
  std::int64_t length = 0;  // when known: sentences stop at this depth only
  double ridge = 1e-8;
  // When given: whether a sentence may stop at each of these nodes.
  std::function<std::vector<char>(std::span<const NodeId>)> may_end;
  std::unordered_map<NodeId, double> start;  // ends expected, to begin with
};

// gradient: (sketch rows, D), as the table's sketch projects it.
SentenceFit fit_sentences(ContextTable& table, const Matrix<double>& gradient,
                          std::span<const NodeId> candidates, const SentenceFitOptions& options);

}  // namespace undertext
