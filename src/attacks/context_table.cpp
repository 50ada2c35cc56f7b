#include "attacks/context_table.h"

#include <algorithm>
#include <cmath>

#include "base/blas.h"

namespace undertext {
namespace {

constexpr std::size_t kMostKept =
    20000;                            // prefixes: beyond that all are forgotten, and read anew if asked for
constexpr double kUsualLength = 2.3;  // of the hidden vector after <S>, on the keyboard's own model

}  // namespace

float usual_scale(SearchTree& tree) {
  // <S> stands for all.
  const NodeId root = 0;
  tree.open({&root, 1});
  const Matrix<float> h = tree.hidden({&root, 1});
  double sum = 0;
  for (std::int64_t j = 0; j + 1 < h.cols; ++j) sum += static_cast<double>(h(0, j)) * h(0, j);
  return sum > 0 ? static_cast<float>(kUsualLength / std::sqrt(sum)) : 1;
}

ContextTable::ContextTable(SearchTree& tree, const OutputLayer& layer, RowSketch sketch)
    : tree_(tree), layer_(layer), sketch_(std::move(sketch)), scale_(usual_scale(tree)) {}

Matrix<double> ContextTable::project(const Matrix<double>& gradient) const {
  Matrix<double> rows = sketch_.project(gradient);
  for (std::int64_t k = 0; k < rows.rows; ++k)
    for (std::int64_t j = 0; j + 1 < rows.cols; ++j) rows(k, j) *= static_cast<double>(scale_);
  return rows;
}

void ContextTable::read(std::span<const NodeId> nodes) {
  if (place_.size() > kMostKept &&
      !std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) { return place_.contains(node); })) {
    place_.clear();
    p_.clear();
    tree_.forget();
  }
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
  Matrix<float> h = tree_.hidden(nodes);
  for (std::int64_t i = 0; i < h.rows; ++i)
    for (std::int64_t j = 0; j + 1 < h.cols; ++j) h(i, j) *= scale_;
  return h;
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
