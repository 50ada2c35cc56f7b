#include "attacks/sentence_fit.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "attacks/nnls.h"
#include "base/blas.h"
#include "base/threads.h"

namespace undertext {
namespace {

// One edge of the tree with the places of its parts in the matrices below.
struct Edge {
  std::int32_t context;  // row of the parent among the contexts
  std::int32_t row;      // row of the word in the sketch
  std::int32_t above;    // index of the parent among the candidates, -1 for <S>
};

}  // namespace

Matrix<float> expected_rows(const OutputLayer& layer, const Matrix<float>& h,
                            std::span<const double> weights) {
  constexpr std::int64_t kBlock = 256;
  Matrix<float> sum(layer.words(), layer.width());
  for (std::int64_t from = 0; from < h.rows; from += kBlock) {
    const std::int64_t size = std::min(kBlock, h.rows - from);
    Matrix<float> block(size, h.cols), p(size, layer.words());
    std::copy_n(h.row(from), size * h.cols, block.data.begin());
    layer.softmax(block, [&](std::int64_t i, const float* row) { std::copy_n(row, p.cols, p.row(i)); });
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < h.cols; ++j) block(i, j) *= static_cast<float>(weights[from + i]);
    multiply(p, Transpose::yes, block, Transpose::no, sum, 1, 1);
  }
  return sum;
}

SentenceFit fit_sentences(SearchTree& tree, const OutputLayer& layer, const Matrix<double>& gradient,
                          const RowSketch& sketch, std::span<const NodeId> candidates,
                          const SentenceFitOptions& options, const SentenceFit* previous) {
  SentenceFit fit;
  fit.nodes = with_ancestors(tree, candidates);
  const std::int64_t m = static_cast<std::int64_t>(fit.nodes.size());

  // Contexts: the distinct parents. place[node]: index among the candidates.
  std::vector<std::int32_t> place(static_cast<std::size_t>(tree.size()), -1);
  std::vector<std::int32_t> context_of(static_cast<std::size_t>(tree.size()), -1);
  std::vector<NodeId> contexts;
  std::vector<Edge> edges(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) {
    const NodeId node = fit.nodes[i], parent = tree.parent(node);
    place[node] = static_cast<std::int32_t>(i);
    if (context_of[parent] < 0) {
      context_of[parent] = static_cast<std::int32_t>(contexts.size());
      contexts.push_back(parent);
    }
    edges[i] = {context_of[parent], static_cast<std::int32_t>(sketch.row(tree.word(node))),
                parent == 0 ? -1 : place[parent]};
  }
  tree.open(contexts);
  const Matrix<float> h = tree.hidden(contexts);
  const std::int64_t count = static_cast<std::int64_t>(contexts.size());

  Matrix<double> p(count, sketch.rows());
  layer.softmax(h, [&](std::int64_t i, const float* row) { sketch.project(row, p.row(i)); });
  const Matrix<double> wide = widened(h);
  const Matrix<double> pp = gram(p), hh = gram(wide);
  const Matrix<double> o = sketch.project(gradient);
  Matrix<double> po(count, o.cols);
  multiply(p, Transpose::no, o, Transpose::no, po);

  // Edges first: G[i][j] and c[i] of the header's formula.
  Matrix<double> g(m, m);
  std::vector<double> c(static_cast<std::size_t>(m));
  parallel_for((m + 31) / 32, [&](std::int64_t block) {
    for (std::int64_t i = block * 32; i < std::min(m, block * 32 + 32); ++i) {
      const Edge& e = edges[i];
      const double* pe = p.row(e.context);
      const double* ppe = pp.row(e.context);
      const double* hhe = hh.row(e.context);
      double* out = g.row(i);
      for (std::int64_t j = 0; j < m; ++j) {
        const Edge& f = edges[j];
        out[j] = hhe[f.context] *
                 (ppe[f.context] - pe[f.row] - p(f.context, e.row) + (e.row == f.row ? 1.0 : 0.0));
      }
      double sum = 0;
      for (std::int64_t j = 0; j < o.cols; ++j) sum += (po(e.context, j) - o(e.row, j)) * wide(e.context, j);
      c[i] = sum;
    }
  });
  // Then paths: a sentence is its parent and one more edge. Candidates are ordered by depth.
  for (std::int64_t i = 0; i < m; ++i)
    if (edges[i].above >= 0) {
      cblas_daxpy(static_cast<int>(m), 1, g.row(edges[i].above), 1, g.row(i), 1);
      c[i] += c[edges[i].above];
    }
  parallel_for((m + 31) / 32, [&](std::int64_t block) {
    for (std::int64_t i = block * 32; i < std::min(m, block * 32 + 32); ++i) {
      double* row = g.row(i);
      for (std::int64_t j = 0; j < m; ++j)
        if (edges[j].above >= 0) row[j] += row[edges[j].above];
    }
  });
  if (options.length > 0)
    for (std::int64_t i = 0; i < m; ++i)
      if (tree.depth(fit.nodes[i]) != options.length) g(i, i) = 0;  // the solver leaves these at zero

  std::vector<double> start(static_cast<std::size_t>(m), 0.0);
  if (previous != nullptr)
    for (std::size_t i = 0; i < previous->nodes.size(); ++i)
      if (place[previous->nodes[i]] >= 0) start[place[previous->nodes[i]]] = previous->ends[i];
  fit.ends = solve_nnls(g, c, options.ridge, start);

  fit.flow = fit.ends;
  for (std::int64_t i = m - 1; i >= 0; --i)
    if (edges[i].above >= 0) fit.flow[edges[i].above] += fit.flow[i];
  std::vector<double> uses(static_cast<std::size_t>(count), 0.0);
  for (std::int64_t i = 0; i < m; ++i) uses[edges[i].context] += fit.flow[i];

  std::vector<NodeId> used;
  std::vector<double> weights;
  for (std::int64_t i = 0; i < count; ++i)
    if (uses[i] > 0) {
      used.push_back(contexts[i]);
      weights.push_back(uses[i]);
    }
  fit.background = expected_rows(layer, tree.hidden(used), weights);
  fit.residual = Matrix<float>(gradient.rows, gradient.cols);
  for (std::size_t i = 0; i < gradient.data.size(); ++i)
    fit.residual.data[i] = static_cast<float>(gradient.data[i] - fit.background.data[i]);
  for (std::int64_t i = 0; i < m; ++i)
    if (fit.flow[i] > 0)
      cblas_saxpy(static_cast<int>(h.cols), static_cast<float>(fit.flow[i]), h.row(edges[i].context), 1,
                  fit.residual.row(tree.word(fit.nodes[i])), 1);
  double left = 0, all = 0;
  for (std::size_t i = 0; i < gradient.data.size(); ++i) {
    left += static_cast<double>(fit.residual.data[i]) * fit.residual.data[i];
    all += gradient.data[i] * gradient.data[i];
  }
  fit.relative_residual = all > 0 ? std::sqrt(left / all) : 0;
  return fit;
}

}  // namespace undertext
