#include "metrics/rouge.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using Texts = std::vector<std::string>;

TEST(Rouge, SplitsAsItsOwnTokenizerDoes) {
  EXPECT_EQ(rouge_words("Don't  stop: 3.5 Caf\u00E9s!"), (Texts{"don", "t", "stop", "3", "5", "caf\u00E9s"}));
  EXPECT_EQ(rouge_words(" ... "), Texts{});
}

// The example of Lin (2004), section 3.1: police killed the gunman.
TEST(Rouge, OfThePublishedExample) {
  const Texts truth = rouge_words("police killed the gunman");
  const Texts first = rouge_words("police kill the gunman"), second = rouge_words("the gunman kill police");
  EXPECT_DOUBLE_EQ(rouge_l(truth, first), 3.0 / 4);
  EXPECT_DOUBLE_EQ(rouge_l(truth, second), 2.0 / 4);
  EXPECT_DOUBLE_EQ(rouge_n(truth, first, 2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(rouge_n(truth, second, 2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(rouge_n(truth, second, 1), 3.0 / 4);
}

TEST(Rouge, WithStemming) {
  const Texts truth = rouge_words("police killed the gunman", Stemming::porter);
  EXPECT_EQ(truth, (Texts{"polic", "kill", "the", "gunman"}));
  EXPECT_DOUBLE_EQ(rouge_l(truth, rouge_words("police kill the gunman", Stemming::porter)), 1);
  EXPECT_DOUBLE_EQ(rouge_l(truth, rouge_words("the gunman kill police", Stemming::porter)), 0.5);
  // Words of up to three letters are left alone.
  EXPECT_EQ(rouge_words("his ties", Stemming::porter), (Texts{"his", "ti"}));
  EXPECT_DOUBLE_EQ(score_rouge(Texts{"killing gunmen"}, Texts{"killed gunmen"}, Stemming::porter).rouge_2, 1);
  EXPECT_DOUBLE_EQ(score_rouge(Texts{"killing gunmen"}, Texts{"killed gunmen"}).rouge_1, 0.5);
}

TEST(Rouge, CountsAWordAsOftenAsBothHaveIt) {
  // 5 and 3 words, "the" twice in both: F1 2 * 2 / (5 + 3).
  EXPECT_DOUBLE_EQ(rouge_n(rouge_words("the cat saw the dog"), rouge_words("the the the"), 1), 0.5);
  EXPECT_EQ(rouge_n(rouge_words("one"), rouge_words("one"), 2), 0);
  EXPECT_EQ(rouge_l(Texts{}, rouge_words("one")), 0);
}

TEST(Rouge, PairsTextsOneToOne) {
  const Texts truth = {"see you at noon", "call me later"};
  EXPECT_DOUBLE_EQ(score_rouge(truth, Texts{"call me later", "see you at noon"}).rouge_l, 1);
  // The copy cannot stand for both.
  EXPECT_DOUBLE_EQ(score_rouge(truth, Texts{"call me later", "call me later"}).rouge_1, 0.5);
  EXPECT_DOUBLE_EQ(score_rouge(truth, Texts{"see you at noon"}).rouge_2, 0.5);
  EXPECT_EQ(score_rouge(truth, Texts{}).rouge_1, 0);
}

}  // namespace
}  // namespace undertext
