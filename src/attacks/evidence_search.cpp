#include "attacks/evidence_search.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "base/blas.h"
#include "base/error.h"
#include "base/threads.h"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info);
}

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
  const int n = static_cast<int>(d);
  int info = 0;
  dpotrf_("U", &n, c.data.data(), &n, &info);
  UNDERTEXT_CHECK(info == 0);
  dpotri_("U", &n, c.data.data(), &n, &info);
  Matrix<float> m(d, d);
  for (std::int64_t i = 0; i < d; ++i)  // LAPACK's upper triangle is our lower one
    for (std::int64_t j = 0; j <= i; ++j) m(i, j) = m(j, i) = static_cast<float>(c(i, j));
  return m;
}

std::vector<NodeId> propose_edges(SearchTree& tree, const OutputLayer& layer, const Matrix<float>& rows,
                                  std::span<const Token> bag, const Matrix<float>& filter,
                                  std::span<const NodeId> contexts, const EvidenceOptions& options) {
  const std::int64_t words = static_cast<std::int64_t>(bag.size()), d = layer.width();
  const Matrix<float> h = tree.hidden(contexts);
  const std::int64_t n = h.rows;
  if (words == 0 || n == 0) return {};
  Matrix<float> rb(words, d);
  std::vector<float> penalty(static_cast<std::size_t>(words));
  for (std::int64_t j = 0; j < words; ++j) {
    std::copy_n(rows.row(bag[j]), d, rb.row(j));
    penalty[j] = static_cast<float>(options.count_penalty * std::sqrt(std::max(0.0f, rb(j, d - 1) - 1)));
  }
  Matrix<float> hm(n, d), e(n, words), log_p(n, words);
  multiply(h, Transpose::no, filter, Transpose::no, hm);
  multiply(hm, Transpose::no, rb, Transpose::yes, e);
  layer.softmax(h, [&](std::int64_t i, const float* p) {
    for (std::int64_t j = 0; j < words; ++j) log_p(i, j) = std::log(std::max(p[bag[j]], 1e-9f));
  });
  std::vector<std::vector<Edge>> best(static_cast<std::size_t>(n));
  parallel_for((n + 15) / 16, [&](std::int64_t block) {
    for (std::int64_t i = block * 16; i < std::min(n, block * 16 + 16); ++i) {
      double q = 0;
      for (std::int64_t j = 0; j < d; ++j) q += static_cast<double>(hm(i, j)) * h(i, j);
      for (std::int64_t j = 0; j < words; ++j) {
        const float share = static_cast<float>(e(i, j) / q);
        if (share > options.threshold)
          best[i].push_back(
              {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
               std::min(share, 1.0f) - penalty[j] + static_cast<float>(options.prior) * log_p(i, j)});
      }
      // <S> begins every sentence: nothing that may follow it is left out.
      if (contexts[i] != 0) keep_best(best[i], options.children);
    }
  });
  std::vector<Edge> edges;
  for (const auto& list : best) edges.insert(edges.end(), list.begin(), list.end());
  keep_best(edges, options.edges);
  std::sort(edges.begin(), edges.end(), better);
  std::vector<NodeId> children;
  for (const Edge& edge : edges) children.push_back(tree.child(contexts[edge.from], bag[edge.word]));
  return children;
}

}  // namespace undertext
