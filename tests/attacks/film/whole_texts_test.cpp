#include "attacks/film/whole_texts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attacks/film/step_set.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

constexpr double kOne = 1.0 / 15;  // a mean over 15 steps
const std::vector<Sentence> kTexts = {
    {4, 77, 130, 21, 5, 90}, {17, 101, 5, 88, 42, 63, 9}, {55, 12, 99, 101, 3}};

class WholeTextsTest : public testing::Test {
 protected:
  WholeTexts whole(const std::vector<Sentence>& texts, const std::vector<double>& weight, double one) {
    const StepSet set = steps_of(model_, tail_, kTexts);
    TailGradient gradient{Matrix<double>(193, 48), Matrix<double>(49, 192), Matrix<double>(49, 48)};
    add_steps(set.contexts, set.rows, set.steps, std::vector<double>(set.rows.size(), kOne), gradient);
    return whole_texts(model_, tail_, gradient, texts, weight, {.weight = one, .longest = 16});
  }

  std::shared_ptr<Transformer> model_ = Transformer::random(
      small_config(
          TransformerKind::gpt2,
          {.vocabulary = 150, .width = 48, .heads = 4, .inner = 192, .positions = 16, .deviation = 0.1}),
      Seed(3));
  Tail tail_{model_};
};

void expect_truth(const WholeTexts& found) {
  EXPECT_EQ(found.texts, kTexts);
  EXPECT_EQ(found.count, std::vector<double>(kTexts.size(), 1.0));
  EXPECT_NEAR(found.weight, kOne, 1e-5);
  EXPECT_LT(found.left, 1e-5);
}

TEST_F(WholeTextsTest, StayAsTheyAre) {
  expect_truth(whole(kTexts, {kOne, kOne, kOne}, kOne));
}

TEST_F(WholeTextsTest, AreOneWhereATextAndItsBeginningShareAnOccurrence) {
  std::vector<Sentence> texts = kTexts;
  texts.push_back({4, 77, 130, 21, 5});
  expect_truth(whole(texts, {0.6 * kOne, kOne, kOne, 0.4 * kOne}, kOne));
}

TEST_F(WholeTextsTest, KeepTextsThatBeginAsAShortOneDoes) {
  // {4} is not the first text without its end: what would be missing is too long.
  const WholeTexts found =
      whole({{4}, {4, 77, 130, 21, 5, 90}, kTexts[1], kTexts[2]}, {0.4 * kOne, kOne, kOne, kOne}, kOne);
  EXPECT_TRUE(std::ranges::find(found.texts, kTexts[0]) != found.texts.end());
}

TEST_F(WholeTextsTest, CountOnceWhatAMeanCannotTellFromTwice) {
  expect_truth(whole(kTexts, {kOne, kOne, kOne}, kOne / 2));
}

// What a fit misses of a text is too little beside all the rest, but all that is left when the rest is
// explained.
TEST_F(WholeTextsTest, FindTheirEnds) {
  const std::vector<double> count = {1, 60, 60};
  const StepSet set = steps_of(model_, tail_, kTexts);
  std::vector<double> weight = step_weights(set, count);
  const double one = 1.0 / (5 + 60 * 6 + 60 * 4);
  for (double& value : weight) value *= one;
  TailGradient gradient{Matrix<double>(193, 48), Matrix<double>(49, 192), Matrix<double>(49, 48)};
  add_steps(set.contexts, set.rows, set.steps, weight, gradient);
  std::vector<Sentence> texts = kTexts;
  texts[0].pop_back();
  const WholeTexts found =
      whole_texts(model_, tail_, gradient, texts, std::vector<double>{one, 60 * one, 60 * one},
                  {.weight = one, .longest = 16});
  EXPECT_EQ(found.texts, kTexts);
  EXPECT_EQ(found.count, count);
  EXPECT_LT(found.left, 1e-5);
}

TEST(LastTokens, AreThoseThatNothingFollows) {
  const std::vector<Sentence> texts = {{1, 2, 9}, {3, 9}, {9, 4, 5}};
  EXPECT_EQ(last_tokens(texts, {}), (std::set<Token>{9}));  // two of three end with it
  std::vector<char> read(10, 1);
  EXPECT_TRUE(last_tokens(texts, read).empty());
  read[5] = 0;
  EXPECT_EQ(last_tokens(texts, read), (std::set<Token>{5}));
}

}  // namespace
}  // namespace undertext
