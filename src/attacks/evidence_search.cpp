#include "attacks/evidence_search.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/blas.h"
#include "base/cholesky.h"
#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

struct Edge {
  std::int32_t from;  // index among the contexts
  std::int32_t word;  // index in the bag
  float score;
};

bool better(const Edge& a, const Edge& b) {
  if (a.score != b.score) return a.score > b.score;
  return std::pair(a.from, a.word) < std::pair(b.from, b.word);
}

void keep_best(std::vector<Edge>& edges, std::int64_t count) {
  if (static_cast<std::int64_t>(edges.size()) > count) {
    std::nth_element(edges.begin(), edges.begin() + count, edges.end(), better);
    edges.resize(static_cast<std::size_t>(count));
  }
}

// The best `count` edges (sorted), of which `share` go in equal parts to each first word's best.
void keep_fairly(std::vector<Edge>& edges, std::int64_t count, double share,
                 const std::vector<NodeId>& first_words) {
  std::unordered_map<NodeId, std::int64_t> taken;
  for (const Edge& edge : edges) taken.try_emplace(first_words[edge.from], 0);
  const auto each = std::max<std::int64_t>(1, static_cast<std::int64_t>(share * static_cast<double>(count)) /
                                                  static_cast<std::int64_t>(taken.size()));
  std::vector<Edge> kept, others;
  for (const Edge& edge : edges) (taken[first_words[edge.from]]++ < each ? kept : others).push_back(edge);
  const auto room =
      static_cast<std::size_t>(std::max<std::int64_t>(0, count - static_cast<std::int64_t>(kept.size())));
  others.resize(std::min(others.size(), room));
  kept.resize(std::min(kept.size(), static_cast<std::size_t>(count)));
  kept.insert(kept.end(), others.begin(), others.end());
  std::sort(kept.begin(), kept.end(), better);
  edges = std::move(kept);
}

}  // namespace

Matrix<float> evidence_filter(const Matrix<float>& h, std::span<const double> weights, double eps) {
  const std::int64_t d = h.cols;
  Matrix<double> weighted(h.rows, d);
  for (std::int64_t i = 0; i < h.rows; ++i)
    for (std::int64_t j = 0; j < d; ++j) weighted(i, j) = std::sqrt(weights[i]) * h(i, j);
  Matrix<double> c(d, d);
  multiply(weighted, Transpose::yes, weighted, Transpose::no, c);
  double trace = 0;
  for (std::int64_t j = 0; j < d; ++j) trace += c(j, j);
  const double scale = trace > 0 ? static_cast<double>(d) / trace : 1;
  for (double& value : c.data) value *= scale;
  for (std::int64_t j = 0; j < d; ++j) c(j, j) += eps;
  UNDERTEXT_CHECK(cholesky(c));
  const Matrix<double> inverse = cholesky_inverse(std::move(c));
  Matrix<float> m(d, d);
  for (std::size_t i = 0; i < m.data.size(); ++i) m.data[i] = static_cast<float>(inverse.data[i]);
  return m;
}

std::vector<Proposal> propose_edges(ContextTable& table, const Matrix<float>& rows,
                                    std::span<const Token> bag, const Matrix<float>& filter,
                                    std::span<const Proposal> contexts, const EvidenceOptions& options) {
  const std::int64_t words = static_cast<std::int64_t>(bag.size()), d = rows.cols;
  const std::int64_t n = static_cast<std::int64_t>(contexts.size());
  if (words == 0 || n == 0) return {};
  const RowSketch& sketch = table.sketch();
  const std::vector<NodeId> nodes = nodes_of(contexts);
  const Matrix<float> h = table.hidden(nodes);
  const Matrix<float> p = table.probabilities(nodes, 0, sketch.kept());
  Matrix<float> rb(words, d);
  std::vector<float> penalty(static_cast<std::size_t>(words));
  for (std::int64_t j = 0; j < words; ++j) {
    std::copy_n(rows.row(sketch.row(bag[j])), d, rb.row(j));
    penalty[j] = static_cast<float>(options.count_penalty * std::sqrt(std::max(0.0f, rb(j, d - 1) - 1)));
  }
  Matrix<float> hm(n, d), e(n, words);
  multiply(h, Transpose::no, filter, Transpose::no, hm);
  multiply(hm, Transpose::no, rb, Transpose::yes, e);
  std::vector<std::vector<Edge>> best(static_cast<std::size_t>(n));
  parallel_for((n + 15) / 16, [&](std::int64_t block) {
    for (std::int64_t i = block * 16; i < std::min(n, block * 16 + 16); ++i) {
      double q = 0;
      for (std::int64_t j = 0; j < d; ++j) q += static_cast<double>(hm(i, j)) * h(i, j);
      for (std::int64_t j = 0; j < words; ++j) {
        const float share = static_cast<float>(e(i, j) / q);
        if (share <= options.threshold) continue;
        const float log_p = std::log(std::max(p(i, sketch.row(bag[j])), 1e-9f));
        best[i].push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                           static_cast<float>(contexts[i].score) + std::min(share, 1.0f) - penalty[j] +
                               static_cast<float>(options.prior) * log_p});
      }
      // <S> begins every sentence: nothing that may follow it is left out.
      if (nodes[i] != 0) keep_best(best[i], options.children);
    }
  });
  std::vector<Edge> edges;
  for (const auto& list : best) edges.insert(edges.end(), list.begin(), list.end());
  if (options.shared == 0) keep_best(edges, options.edges);
  std::sort(edges.begin(), edges.end(), better);
  SearchTree& tree = table.tree();
  if (options.shared > 0 && static_cast<std::int64_t>(edges.size()) > options.edges) {
    std::vector<NodeId> first_words;
    first_words.reserve(nodes.size());
    for (NodeId node : nodes) first_words.push_back(tree.first(node));
    keep_fairly(edges, options.edges, options.shared, first_words);
  }
  std::vector<Proposal> children;
  children.reserve(edges.size());
  for (const Edge& edge : edges)
    children.push_back({tree.child(nodes[edge.from], bag[edge.word]), static_cast<double>(edge.score)});
  return children;
}

std::vector<NodeId> likely_edges(ContextTable& table, std::span<const NodeId> contexts, float least) {
  const RowSketch& sketch = table.sketch();
  const Matrix<float> p = table.probabilities(contexts, 0, sketch.kept());
  std::vector<NodeId> children;
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t k = 0; k < p.cols; ++k)
      if (p(i, k) >= least) children.push_back(table.tree().child(contexts[i], sketch.word(k)));
  return children;
}

std::vector<NodeId> nodes_of(std::span<const Proposal> proposals) {
  std::vector<NodeId> nodes;
  nodes.reserve(proposals.size());
  for (const Proposal& proposal : proposals) nodes.push_back(proposal.node);
  return nodes;
}

}  // namespace undertext
