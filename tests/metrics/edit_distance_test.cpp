#include "metrics/edit_distance.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "words.h"

namespace undertext {
namespace {

TEST(EditDistance, HandComputed) {
  EXPECT_EQ(levenshtein(words("k i t t e n"), words("s i t t i n g")), 3);
  EXPECT_EQ(levenshtein(words(""), words("a b")), 2);
  EXPECT_EQ(levenshtein(words("a b"), words("")), 2);
  EXPECT_EQ(levenshtein(words("a b c"), words("b c d")), 2);
  EXPECT_EQ(longest_common_subsequence(words("a b c b d a b"), words("b d c a b a")), 4);
  EXPECT_EQ(longest_common_subsequence(words("a b"), words("")), 0);
}

TEST(EditDistance, EmptySentences) {
  EXPECT_EQ(word_ratio(words(""), words("")), 100);
  EXPECT_EQ(paper_ratio(words(""), words("")), 100);
  EXPECT_EQ(word_ratio(words(""), words("a")), 0);
  EXPECT_EQ(paper_ratio(words("a b"), words("")), 0);
}

TEST(EditDistance, WithoutACommonWordThePapersRatioIsNotZero) {
  EXPECT_EQ(paper_ratio(words("a b c d"), words("e f g h")), 43);
  EXPECT_EQ(word_ratio(words("a b c d"), words("e f g h")), 0);
}

// Computed with an independent Python implementation.
struct Golden {
  const char *a, *b;
  double paper, word;
};
constexpr Golden kGolden[] = {
    {"on my way home", "i am on my way", 62, 40.0},
    {"see you at six", "see you soon", 67, 50.0},
    {"ok", "ok thanks", 50, 50.0},
    {"a", "b", 0, 0.0},
    {"the code is four two", "the code is two four", 78, 60.0},
    {"i love you i love you", "you love i", 50, 33.333333333333336},
    {"one two three four five six seven eight nine ten eleven twelve", "three one two five four twelve nine",
     50, 25.0},
    {"yes", "no not yet today", 0, 0.0},
    {"a b a b a", "b a b a b a", 90, 83.33333333333334},
    {"a b c", "c b a", 60, 33.333333333333336},
    {"where are you now", "where are we now", 86, 75.0},
};

TEST(EditDistance, GoldenPairsInBothDirections) {
  for (const auto& [a, b, paper, word] : kGolden) {
    EXPECT_EQ(paper_ratio(words(a), words(b)), paper) << a << " / " << b;
    EXPECT_EQ(paper_ratio(words(b), words(a)), paper) << a << " / " << b;
    EXPECT_NEAR(word_ratio(words(a), words(b)), word, 1e-12) << a << " / " << b;
    EXPECT_NEAR(word_ratio(words(b), words(a)), word, 1e-12) << a << " / " << b;
  }
}

TEST(EditDistance, HalvesRoundToEven) {
  // One word against eight: 1 + 15 characters, 2 * 1 / 16 = 12.5 per cent.
  EXPECT_EQ(paper_ratio(words("a"), words("a b c d e f g h")), 12);
}

TEST(EditDistance, IsAMetricOnRandomSentences) {
  Random random{Seed(7)};
  const auto draw = [&] {
    Sentence sentence(random.below(7));
    for (Token& word : sentence) word = static_cast<Token>(random.below(4));
    return sentence;
  };
  for (int i = 0; i < 2000; ++i) {
    const Sentence a = draw(), b = draw(), c = draw();
    EXPECT_EQ(levenshtein(a, b), levenshtein(b, a));
    EXPECT_EQ(levenshtein(a, b) == 0, a == b);
    EXPECT_LE(levenshtein(a, c), levenshtein(a, b) + levenshtein(b, c));
    EXPECT_EQ(longest_common_subsequence(a, b), longest_common_subsequence(b, a));
    EXPECT_EQ(word_ratio(a, b) == 100, a == b);
    EXPECT_EQ(paper_ratio(a, b) == 100, a == b);
    EXPECT_GE(word_ratio(a, b), 0);
  }
}

}  // namespace
}  // namespace undertext
