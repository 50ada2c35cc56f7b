#include "attacks/context_table.h"

#include <algorithm>

#include "base/blas.h"

namespace undertext {

ContextTable::ContextTable(SearchTree& tree, const OutputLayer& layer, RowSketch sketch)
    : tree_(tree), layer_(layer), sketch_(std::move(sketch)) {}

void ContextTable::read(std::span<const NodeId> nodes) {
  std::vector<NodeId> fresh;
  for (NodeId node : nodes)
    if (place_.try_emplace(node, static_cast<std::int64_t>(place_.size())).second) fresh.push_back(node);
  if (fresh.empty()) return;
  tree_.open(fresh);
  const auto rows = static_cast<std::size_t>(sketch_.rows());
  p_.resize(place_.size() * rows);
  float* first = p_.data() + (place_.size() - fresh.size()) * rows;
  layer_.softmax(tree_.hidden(fresh), [&](std::int64_t i, const float* p) {
    sketch_.project(p, first + static_cast<std::size_t>(i) * rows);
  });
}

Matrix<float> ContextTable::probabilities(std::span<const NodeId> nodes) {
  return probabilities(nodes, 0, sketch_.rows());
}

Matrix<float> ContextTable::probabilities(std::span<const NodeId> nodes, std::int64_t from, std::int64_t to) {
  read(nodes);
  Matrix<float> p(static_cast<std::int64_t>(nodes.size()), to - from);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    std::copy_n(p_.data() + place_.at(nodes[i]) * sketch_.rows() + from, to - from,
                p.row(static_cast<std::int64_t>(i)));
  return p;
}

Matrix<float> ContextTable::hidden(std::span<const NodeId> nodes) {
  tree_.open(nodes);
  return tree_.hidden(nodes);
}

Matrix<float> ContextTable::expected(std::span<const NodeId> nodes, std::span<const double> weights) {
  const Matrix<float> p = probabilities(nodes);
  Matrix<float> h = hidden(nodes);
  for (std::int64_t i = 0; i < h.rows; ++i)
    for (std::int64_t j = 0; j < h.cols; ++j) h(i, j) *= static_cast<float>(weights[i]);
  Matrix<float> sum(sketch_.rows(), h.cols);
  multiply(p, Transpose::yes, h, Transpose::no, sum);
  return sum;
}

}  // namespace undertext
