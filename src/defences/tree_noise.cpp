#include "defences/tree_noise.h"

#include <ATen/ATen.h>

#include <bit>

#include "base/error.h"

namespace undertext {

std::vector<TreeNode> covering_nodes(std::int64_t leaves) {
  UNDERTEXT_CHECK(leaves >= 0);
  std::vector<TreeNode> nodes;
  std::int64_t covered = 0;
  for (int level = 62; level >= 0; --level)
    if (const std::int64_t size = std::int64_t{1} << level; (leaves & size) != 0) {
      nodes.push_back({level, covered / size});
      covered += size;
    }
  return nodes;
}

void TreeNoise::add_node(const TreeNode& node, double sign, NamedTensors& tensors) const {
  const Seed of_node =
      seed_.derive(static_cast<std::uint64_t>(node.level)).derive(static_cast<std::uint64_t>(node.index));
  for (auto& [name, tensor] : tensors) {
    const at::Tensor noise = at::zeros(tensor.sizes(), at::kFloat);
    add_normal_noise(of_node.derive(name), deviation_, noise.data_ptr<float>(), noise.numel());
    tensor.add_(noise, sign);
  }
}

void TreeNoise::add_increment(std::int64_t leaf, NamedTensors& tensors) const {
  UNDERTEXT_CHECK(leaf >= 1);
  if (deviation_ == 0) return;
  // As in counting: one more turns the ones at the end of the binary number into zeros, and the zero before
  // them into a one.
  const int ones = std::countr_one(static_cast<std::uint64_t>(leaf - 1));
  std::vector<TreeNode> before = covering_nodes(leaf - 1);
  add_node(covering_nodes(leaf).back(), 1, tensors);
  for (int i = 0; i < ones; ++i) {
    add_node(before.back(), -1, tensors);
    before.pop_back();
  }
}

}  // namespace undertext
