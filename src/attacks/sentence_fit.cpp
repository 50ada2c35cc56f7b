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

// The normal equations of the fit: G x = c.
struct Equations {
  Matrix<double> g;
  std::vector<double> c;
};

// For single edges, by the header's formula.
Equations edge_equations(ContextTable& table, const Matrix<double>& gradient,
                         std::span<const NodeId> contexts, const Matrix<double>& h,
                         std::span<const Edge> edges) {
  const std::int64_t m = static_cast<std::int64_t>(edges.size());
  const Matrix<double> p = widened(table.probabilities(contexts));
  const Matrix<double> pt = transposed(p);  // (sketch rows, contexts)
  const Matrix<double> pp = gram(p), hh = gram(h);
  Matrix<double> po(h.rows, gradient.cols);
  multiply(p, Transpose::no, gradient, Transpose::no, po);
  Equations equations{Matrix<double>(m, m), std::vector<double>(edges.size())};
  parallel_for((m + 31) / 32, [&](std::int64_t block) {
    for (std::int64_t i = block * 32; i < std::min(m, block * 32 + 32); ++i) {
      const Edge& e = edges[i];
      const double* pe = p.row(e.context);
      const double* ppe = pp.row(e.context);
      const double* hhe = hh.row(e.context);
      const double* word = pt.row(e.row);
      double* out = equations.g.row(i);
      for (std::int64_t j = 0; j < m; ++j) {
        const Edge& f = edges[j];
        out[j] =
            hhe[f.context] * (ppe[f.context] - pe[f.row] - word[f.context] + (e.row == f.row ? 1.0 : 0.0));
      }
      double sum = 0;
      for (std::int64_t j = 0; j < h.cols; ++j)
        sum += (po(e.context, j) - gradient(e.row, j)) * h(e.context, j);
      equations.c[i] = sum;
    }
  });
  return equations;
}

// From edges to paths: a sentence is its parent and one more edge. Candidates are ordered by depth.
void add_up_paths(std::span<const Edge> edges, Equations& equations) {
  const std::int64_t m = static_cast<std::int64_t>(edges.size());
  for (std::int64_t i = 0; i < m; ++i)
    if (edges[i].above >= 0) {
      cblas_daxpy(static_cast<int>(m), 1, equations.g.row(edges[i].above), 1, equations.g.row(i), 1);
      equations.c[i] += equations.c[edges[i].above];
    }
  parallel_for((m + 31) / 32, [&](std::int64_t block) {
    for (std::int64_t i = block * 32; i < std::min(m, block * 32 + 32); ++i) {
      double* row = equations.g.row(i);
      for (std::int64_t j = 0; j < m; ++j)
        if (edges[j].above >= 0) row[j] += row[edges[j].above];
    }
  });
}

}  // namespace

SentenceFit fit_sentences(ContextTable& table, const Matrix<double>& gradient,
                          std::span<const NodeId> candidates, const SentenceFitOptions& options) {
  const SearchTree& tree = table.tree();
  const RowSketch& sketch = table.sketch();
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
  const Matrix<float> h = table.hidden(contexts);
  const std::int64_t count = static_cast<std::int64_t>(contexts.size());
  const Matrix<double> wide = widened(h);
  Equations equations = edge_equations(table, gradient, contexts, wide, edges);
  add_up_paths(edges, equations);
  const std::vector<char> ending = options.may_end ? options.may_end(fit.nodes) : std::vector<char>();
  for (std::int64_t i = 0; i < m; ++i)
    if ((options.length > 0 && tree.depth(fit.nodes[i]) != options.length) || (!ending.empty() && !ending[i]))
      equations.g(i, i) = 0;  // the solver leaves these at zero
  std::vector<double> start(static_cast<std::size_t>(m), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    if (const auto found = options.start.find(fit.nodes[i]); found != options.start.end())
      start[i] = found->second;
  fit.ends = solve_nnls(std::move(equations.g), equations.c, options.ridge, start);

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
  fit.background = table.expected(used, weights);
  Matrix<double>& residual = fit.residual = gradient;
  for (std::size_t i = 0; i < residual.data.size(); ++i) residual.data[i] -= fit.background.data[i];
  for (std::int64_t i = 0; i < m; ++i)
    if (fit.flow[i] > 0)
      cblas_daxpy(static_cast<int>(h.cols), fit.flow[i], wide.row(edges[i].context), 1,
                  residual.row(edges[i].row), 1);
  double left = 0, all = 0;
  for (std::size_t i = 0; i < gradient.data.size(); ++i) {
    left += residual.data[i] * residual.data[i];
    all += gradient.data[i] * gradient.data[i];
  }
  fit.relative_residual = all > 0 ? std::sqrt(left / all) : 0;
  return fit;
}

}  // namespace undertext
