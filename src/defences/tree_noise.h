// Noise for prefix sums (Dwork et al., 2010; Kairouz et al., 2021, section 3): the leaves of a binary tree
// are the summands, every node has noise of its own, and the sum of the first t leaves gets that of the few
// nodes that cover them: as many as t has binary ones, and not t.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "tensors/named_tensors.h"

namespace undertext {

// The node over the leaves index * 2^level + 1 to (index + 1) * 2^level.
struct TreeNode {
  std::int64_t level = 0, index = 0;
  bool operator==(const TreeNode&) const = default;
};

// The nodes that together cover the first `leaves` leaves, the largest first.
std::vector<TreeNode> covering_nodes(std::int64_t leaves);

// A node's noise is a function of the seed and the node: nothing has to be kept from round to round.
class TreeNoise {
 public:
  // deviation: of each node's noise.
  TreeNoise(double deviation, Seed seed)
      : deviation_(static_cast<float>(deviation)), seed_(seed.derive("tree noise")) {}
  // Adds to each tensor (float64) what the noise of the first `leaf` leaves has over that of those before it;
  // leaf counts from 1. Nodes that are in both are not drawn.
  void add_increment(std::int64_t leaf, NamedTensors& tensors) const;

 private:
  void add_node(const TreeNode& node, double sign, NamedTensors& tensors) const;

  float deviation_;
  Seed seed_;
};

}  // namespace undertext
