// Which word follows which context, as far as the gradient's rows tell.
//
// What remains of the rows once the model's own predictions are taken away is r_k = sum of h~_c over the
// contexts c that word k really followed. The share of r_k that sits at a context c is
//   e(c, k) = h~_c' M r_k / h~_c' M h~_c,   M = (C + eps I)^-1,
// C the covariance of all contexts: the filter that lets c through and the rest as little as it can.
#pragma once

#include <span>
#include <vector>

#include "attacks/context_table.h"

namespace undertext {

struct EvidenceOptions {
  double threshold = 0.3;       // edges with less evidence are dropped
  double count_penalty = 0.05;  // times sqrt(count - 1): rows of frequent words are less sure
  double prior = 0.02;          // times log p(k | c)
  std::int64_t children = 20;   // edges kept of each context
  std::int64_t edges = 1500;    // edges kept in all
  double shared = 0;            // of these, the part that is shared out equally between first words
};

struct Proposal {
  NodeId node;
  double score;  // of the whole path to it
};

// The edges that the rows (sketch rows, D) speak for, out of the contexts given and over the words of the
// bag: children of the contexts, best first. A context's score is added to those of its edges.
std::vector<Proposal> propose_edges(ContextTable& table, const Matrix<float>& rows,
                                    std::span<const Token> bag, const Matrix<float>& filter,
                                    std::span<const Proposal> contexts, const EvidenceOptions& options);

// The edges out of these contexts that the model itself thinks likely, at least `least` each, over the words
// that the sketch keeps. What the model all but knew leaves next to nothing in the rows.
std::vector<NodeId> likely_edges(ContextTable& table, std::span<const NodeId> contexts, float least);

std::vector<NodeId> nodes_of(std::span<const Proposal> proposals);

// M from weighted contexts h (n, D): C scaled to a mean diagonal of one.
Matrix<float> evidence_filter(const Matrix<float>& h, std::span<const double> weights, double eps);

}  // namespace undertext
