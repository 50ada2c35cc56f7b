#include "metrics/sentence_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "metrics/edit_distance.h"
#include "words.h"

namespace undertext {
namespace {

std::vector<Sentence> random_sentences(std::uint64_t seed, std::size_t count, std::uint64_t vocabulary,
                                       std::uint64_t longest) {
  Random random{Seed(seed)};
  std::vector<Sentence> list(count);
  for (Sentence& sentence : list) {
    sentence.resize(1 + random.below(longest));
    for (Token& word : sentence) word = static_cast<Token>(random.below(vocabulary));
  }
  return list;
}

// Levenshtein columns computed with an independent Python implementation, the others by hand.
TEST(SentenceScores, Golden) {
  const auto truth = sentences({"on my way home", "see you at six", "ok", "ok", "call me when you land"});
  const auto recovered =
      sentences({"on my way", "see you at seven", "ok", "call mum when you can", "see you at six then"});
  const SentenceScores scores = score_sentences(truth, recovered);
  EXPECT_DOUBLE_EQ(scores.levenshtein_paper, 87);
  EXPECT_DOUBLE_EQ(scores.levenshtein, 78);
  EXPECT_DOUBLE_EQ(scores.matched, (75 + 80 + 100 + 0 + 60) / 5.0);
  EXPECT_DOUBLE_EQ(scores.exact, 0.2);
  EXPECT_DOUBLE_EQ(scores.exact_precision, 0.2);
  EXPECT_DOUBLE_EQ(scores.word_f1, 20.0 / 27);  // 13 true words, 14 recovered, 10 of them true
  EXPECT_EQ(scores.truth, 5);
  EXPECT_EQ(scores.recovered, 5);

  ASSERT_EQ(scores.pairs.size(),
            4u);  // one "ok" and "see you at seven" have nobody left to share a word with
  EXPECT_EQ(scores.pairs[0].truth, 0);
  EXPECT_EQ(scores.pairs[0].recovered, 0);
  EXPECT_DOUBLE_EQ(scores.pairs[0].ratio, 75);
  EXPECT_EQ(scores.pairs[1].truth, 1);
  EXPECT_EQ(scores.pairs[1].recovered, 4);
  EXPECT_EQ(scores.pairs[3].truth, 4);
  EXPECT_EQ(scores.pairs[3].recovered, 3);
}

TEST(SentenceScores, EmptySidesScoreZero) {
  const std::vector<Sentence> none, one = sentences({"a b"});
  for (const SentenceScores& scores :
       {score_sentences(none, none), score_sentences(one, none), score_sentences(none, one)}) {
    EXPECT_EQ(scores.levenshtein_paper, 0);
    EXPECT_EQ(scores.levenshtein, 0);
    EXPECT_EQ(scores.matched, 0);
    EXPECT_EQ(scores.exact, 0);
    EXPECT_EQ(scores.exact_precision, 0);
    EXPECT_EQ(scores.word_f1, 0);
    EXPECT_TRUE(scores.pairs.empty());
  }
  EXPECT_EQ(score_sentences(one, none).truth, 1);
  EXPECT_EQ(score_sentences(none, one).recovered, 1);
}

TEST(SentenceScores, APerfectRecoveryInAnyOrder) {
  const auto truth = random_sentences(1, 40, 12, 4);  // with repeats
  auto recovered = truth;
  std::reverse(recovered.begin(), recovered.end());
  const SentenceScores scores = score_sentences(truth, recovered);
  EXPECT_EQ(scores.levenshtein_paper, 100);
  EXPECT_EQ(scores.levenshtein, 100);
  EXPECT_EQ(scores.matched, 100);
  EXPECT_EQ(scores.exact, 1);
  EXPECT_EQ(scores.exact_precision, 1);
  EXPECT_EQ(scores.word_f1, 1);
  EXPECT_EQ(scores.pairs.size(), 40u);
}

// Guessing one true sentence again and again fools the best-match scores, not the others.
TEST(SentenceScores, ReuseIsCreditedOnceOnly) {
  const auto truth = sentences({"a b c d", "e f g h", "i j k l", "m n o p"});
  const auto recovered = sentences({"a b c d", "a b c d", "a b c d", "a b c d"});
  const SentenceScores scores = score_sentences(truth, recovered);
  EXPECT_EQ(scores.levenshtein_paper, 100);
  EXPECT_EQ(scores.levenshtein, 100);
  EXPECT_EQ(scores.matched, 25);
  EXPECT_EQ(scores.exact, 0.25);
  EXPECT_EQ(scores.exact_precision, 0.25);
}

TEST(SentenceScores, CopiesOfARepeatedSentenceCount) {
  const auto truth = sentences({"ok", "ok", "ok", "bye"}), recovered = sentences({"ok", "ok", "see you"});
  EXPECT_EQ(count_exact(truth, recovered), 2);
  EXPECT_EQ(count_exact(recovered, truth), 2);
  EXPECT_DOUBLE_EQ(score_sentences(truth, recovered).exact, 0.5);
  EXPECT_DOUBLE_EQ(score_sentences(truth, recovered).exact_precision, 2.0 / 3);
}

TEST(SentenceMatching, TheSumDoesNotDependOnTheDirection) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto a = random_sentences(2 * seed, 15, 6, 5), b = random_sentences(2 * seed + 1, 9, 6, 5);
    EXPECT_NEAR(match_sentences(a, b).mean * 15, match_sentences(b, a).mean * 9, 1e-9);
  }
}

TEST(SentenceScores, RangesAndOrderOfTheScores) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto truth = random_sentences(seed, 12, 8, 6), recovered = random_sentences(seed + 100, 12, 8, 6);
    const SentenceScores scores = score_sentences(truth, recovered);
    EXPECT_LE(scores.matched, scores.levenshtein + 1e-9);  // as many of each: one-to-one is the harder one
    EXPECT_LE(100 * scores.exact, scores.matched + 1e-9);
    EXPECT_LE(scores.levenshtein_paper, 100);
    EXPECT_GE(scores.matched, 0);
  }
}

TEST(RatioTable, HoldsEveryPairAlsoOfRepeatedSentences) {
  const auto truth = random_sentences(5, 30, 3, 2), recovered = random_sentences(6, 20, 3, 2);
  const RatioTable table(truth, recovered, word_ratio);
  ASSERT_EQ(table.truth(), 30);
  ASSERT_EQ(table.recovered(), 20);
  for (std::size_t t = 0; t < 30; ++t) {
    for (std::size_t r = 0; r < 20; ++r) {
      EXPECT_EQ(table.at(static_cast<std::int64_t>(t), static_cast<std::int64_t>(r)),
                word_ratio(truth[t], recovered[r]));
    }
  }
}

TEST(SentenceScores, TwoHundredAndFiftySixSentencesOnEachSide) {
  const auto truth = random_sentences(8, 256, 300, 12), recovered = random_sentences(9, 256, 300, 12);
  const SentenceScores scores = score_sentences(truth, recovered);  // well under a second
  EXPECT_EQ(scores.truth, 256);
  EXPECT_GT(scores.levenshtein_paper, scores.levenshtein);
}

TEST(SentenceScores, Json) {
  const nlohmann::json json = score_sentences(sentences({"a b", "c"}), sentences({"a b"}));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"levenshtein_paper": 100.0, "levenshtein": 100.0, "matched": 50.0,
      "exact": 0.5, "exact_precision": 1.0, "word_f1": 0.8, "recovered": 1, "truth": 2})"));
}

}  // namespace
}  // namespace undertext
