#include "metrics/word_scores.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "words.h"

namespace undertext {
namespace {

WordScores score(const Sentence& truth, const Sentence& recovered) {
  return score_words(std::span<const Token>(truth), std::span<const Token>(recovered));
}

TEST(WordScores, HandComputed) {
  const WordScores scores = score({1, 2, 3, 4}, {4, 3, 9});
  EXPECT_DOUBLE_EQ(scores.precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.recall, 0.5);
  EXPECT_DOUBLE_EQ(scores.f1, 4.0 / 7);
  EXPECT_EQ(scores.truth, 4);
  EXPECT_EQ(scores.recovered, 3);
}

TEST(WordScores, RepeatsAndOrderDoNotCount) {
  const WordScores scores = score({2, 1, 1, 2}, {1, 2, 2});
  EXPECT_EQ(scores.f1, 1);
  EXPECT_EQ(scores.truth, 2);
  EXPECT_EQ(scores.recovered, 2);
}

TEST(WordScores, SwappingTheSidesSwapsPrecisionAndRecall) {
  const WordScores a = score({1, 2, 3, 4, 5}, {4, 5, 6}), b = score({4, 5, 6}, {1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(a.precision, b.recall);
  EXPECT_DOUBLE_EQ(a.recall, b.precision);
  EXPECT_DOUBLE_EQ(a.f1, b.f1);
}

TEST(WordScores, EmptyAndDisjointSetsScoreZero) {
  for (const auto& scores : {score({}, {}), score({1}, {}), score({}, {1}), score({1}, {2})}) {
    EXPECT_EQ(scores.precision, 0);
    EXPECT_EQ(scores.recall, 0);
    EXPECT_EQ(scores.f1, 0);
  }
}

TEST(WordScores, TakesTheWordsOfSentences) {
  const auto truth = sentences({"see you soon", "you rock"}), recovered = sentences({"see you", "see me"});
  const WordScores scores = score_words(truth, recovered);  // {see you soon rock} and {see you me}
  EXPECT_DOUBLE_EQ(scores.precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.recall, 0.5);
}

TEST(WordScores, Json) {
  const nlohmann::json json = score({1, 2}, {2, 3, 4, 5});
  EXPECT_EQ(
      json,
      nlohmann::json::parse(
          R"({"f1": 0.3333333333333333, "precision": 0.25, "recall": 0.5, "recovered": 4, "truth": 2})"));
}

}  // namespace
}  // namespace undertext
