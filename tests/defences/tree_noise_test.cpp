#include "defences/tree_noise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <bit>

#include "defences/accounting/noisy_steps.h"

namespace undertext {
namespace {

TEST(TreeNoise, CoversPrefixesByTheirBinaryOnes) {
  EXPECT_TRUE(covering_nodes(0).empty());
  EXPECT_EQ(covering_nodes(1), (std::vector<TreeNode>{{0, 0}}));
  EXPECT_EQ(covering_nodes(2), (std::vector<TreeNode>{{1, 0}}));
  EXPECT_EQ(covering_nodes(3), (std::vector<TreeNode>{{1, 0}, {0, 2}}));
  EXPECT_EQ(covering_nodes(7), (std::vector<TreeNode>{{2, 0}, {1, 2}, {0, 6}}));
  EXPECT_EQ(covering_nodes(8), (std::vector<TreeNode>{{3, 0}}));
}

// Each leaf lies under so many of the nodes that are ever used as the accountant counts, and no more.
TEST(TreeNoise, UsesNoMoreNodesAboveALeafThanAreAccountedFor) {
  for (std::int64_t leaves = 1; leaves <= 70; ++leaves) {
    std::set<std::pair<std::int64_t, std::int64_t>> used;
    for (std::int64_t t = 1; t <= leaves; ++t)
      for (const TreeNode& node : covering_nodes(t)) used.insert({node.level, node.index});
    std::int64_t most = 0;
    for (std::int64_t leaf = 0; leaf < leaves; ++leaf)
      most = std::max<std::int64_t>(most, std::ranges::count_if(used, [&](const auto& node) {
                                      return leaf >> node.first == node.second;
                                    }));
    EXPECT_EQ(most, nodes_above_leaf(leaves)) << leaves;
  }
}

// The noise in the sum of the first t leaves has the variance of its nodes, not of t summands.
TEST(TreeNoise, PrefixSumsHaveTheVarianceOfTheirNodes) {
  const TreeNoise tree(0.5, Seed(3));
  NamedTensors sum = {{"a", at::zeros({40'000}, at::kDouble)}};
  for (std::int64_t leaf = 1; leaf <= 33; ++leaf) {
    tree.add_increment(leaf, sum);
    const double expected = 0.25 * std::popcount(static_cast<std::uint64_t>(leaf));
    EXPECT_NEAR(sum.at("a").var().item<double>(), expected, 0.04 * expected) << leaf;
  }
  // What is in several prefixes is the same noise: that of 33 leaves is that of 32 and one leaf's more.
  NamedTensors again = {{"a", at::zeros({40'000}, at::kDouble)}};
  for (std::int64_t leaf = 1; leaf <= 32; ++leaf) tree.add_increment(leaf, again);
  EXPECT_NEAR((sum.at("a") - again.at("a")).var().item<double>(), 0.25, 0.01);
}

TEST(TreeNoise, IsAFunctionOfSeedNodeAndName) {
  const auto increment = [](std::int64_t leaf, std::uint64_t seed) {
    NamedTensors sum = {{"a", at::zeros({50}, at::kDouble)}, {"b", at::zeros({50}, at::kDouble)}};
    TreeNoise(1, Seed(seed)).add_increment(leaf, sum);
    return sum;
  };
  EXPECT_TRUE(at::equal(increment(6, 1).at("a"), increment(6, 1).at("a")));
  EXPECT_FALSE(at::equal(increment(6, 1).at("a"), increment(6, 1).at("b")));
  EXPECT_FALSE(at::equal(increment(6, 1).at("a"), increment(6, 2).at("a")));
  EXPECT_FALSE(at::equal(increment(6, 1).at("a"), increment(5, 1).at("a")));
}

}  // namespace
}  // namespace undertext
