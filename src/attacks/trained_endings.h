// Where a sentence may stop, as a model trained on it for many epochs gives away: after a beginning of a
// sentence it knows by heart what comes next, after the whole it does not.
#pragma once

#include <span>
#include <vector>

#include "attacks/output_layer.h"
#include "attacks/search_tree.h"

namespace undertext {

class TrainedEndings {
 public:
  explicit TrainedEndings(const Observation& observation);

  // For each node of the tree whether a sentence may stop there.
  std::vector<char> may_end(const SearchTree& tree, std::span<const NodeId> nodes);

 private:
  OutputLayer layer_;
  SearchTree trained_;          // prefixes as the trained model reads them
  std::vector<float> entropy_;  // of what follows, by node of trained_; negative: not computed
};

}  // namespace undertext
