#include "models/prefix_tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace undertext {
namespace {

TEST(PrefixTree, SharesPrefixesAndCountsWhatFollows) {
  //           <S> -> 5 -> 6 (twice, once followed by 7), 8;  <S> -> 9
  const std::vector<Sentence> sentences = {{5, 6, 7}, {5, 8}, {9}, {5, 6}};
  const PrefixTree tree(sentences, 1);
  EXPECT_EQ(tree.rows(), 3);  // <S>; <S> 5; <S> 5 6
  EXPECT_EQ(tree.depth_begin, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{-1, 0, 1}));
  EXPECT_EQ(tree.slot_token, (std::vector<Token>{1, 5, 6}));
  EXPECT_EQ(tree.inner_row, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(tree.inner_begin, (std::vector<std::int64_t>{0, 1, 2, 2}));
  EXPECT_EQ(tree.target_begin, (std::vector<std::int64_t>{0, 2, 4, 5}));
  EXPECT_EQ(tree.target, (std::vector<Token>{5, 9, 6, 8, 7}));
  EXPECT_EQ(tree.target_count, (std::vector<float>{3, 1, 2, 1, 1}));
  EXPECT_EQ(tree.row_count, (std::vector<float>{4, 3, 1}));
  EXPECT_EQ(tree.word_target, (std::vector<std::int64_t>{0, 2, 4, 0, 3, 1, 0, 2}));
}

TEST(PrefixTree, ReadsATokenOnceHoweverOftenItOccurs) {
  const std::vector<Sentence> sentences = {{1, 1, 1}};
  const PrefixTree tree(sentences, 1);
  EXPECT_EQ(tree.rows(), 3);
  EXPECT_EQ(tree.slots(), 1);
}

TEST(PrefixTree, NothingToPredictIsAnEmptyTree) {
  EXPECT_EQ(PrefixTree({}, 1).rows(), 0);
  const std::vector<Sentence> empty = {{}, {}};
  EXPECT_EQ(PrefixTree(empty, 1).rows(), 0);
}

}  // namespace
}  // namespace undertext
