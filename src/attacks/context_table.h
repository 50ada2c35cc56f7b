// What the output layer says after each prefix that a search looks at, computed once per prefix and kept in
// the rows of a sketch: every sum over contexts that the attacks need is then a small matrix product.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "attacks/output_layer.h"
#include "attacks/row_sketch.h"
#include "attacks/search_tree.h"

namespace undertext {

// What brings the hidden vectors of this tree's model to a usual length.
float usual_scale(SearchTree& tree);

class ContextTable {
 public:
  ContextTable(SearchTree& tree, const OutputLayer& layer, RowSketch sketch);

  // The gradient (words, D) in the rows of the sketch and on the scale of hidden().
  Matrix<double> project(const Matrix<double>& gradient) const;

  SearchTree& tree() const { return tree_; }
  const OutputLayer& layer() const { return layer_; }
  const RowSketch& sketch() const { return sketch_; }
  float scale() const { return scale_; }  // of the hidden vectors

  // The predictions after each prefix, sketched: (nodes, sketch rows).
  Matrix<float> probabilities(std::span<const NodeId> nodes);
  // The same for the sketch rows [from, to) only.
  Matrix<float> probabilities(std::span<const NodeId> nodes, std::int64_t from, std::int64_t to);
  // h~ of each prefix with h scaled to a usual length: (nodes, D). What the attacks call small does not then
  // depend on how large a model's hidden vectors are.
  Matrix<float> hidden(std::span<const NodeId> nodes);
  // sum over nodes of weight * p (x) h~: (sketch rows, D).
  Matrix<float> expected(std::span<const NodeId> nodes, std::span<const double> weights);

 private:
  void read(std::span<const NodeId> nodes);

  SearchTree& tree_;
  const OutputLayer& layer_;
  RowSketch sketch_;
  float scale_;
  std::unordered_map<NodeId, std::int64_t> place_;
  std::vector<float> p_;  // (prefixes met, sketch rows)
};

}  // namespace undertext
