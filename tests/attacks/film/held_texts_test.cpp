#include "attacks/film/held_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attacks/film/own_text.h"
#include "attacks/film/step_set.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

constexpr double kOne = 1.0 / 15;  // a mean over 15 steps
const std::vector<Sentence> kTexts = {
    {4, 77, 130, 21, 5, 90}, {17, 101, 5, 88, 42, 63, 9}, {55, 12, 99, 101, 3}};

class HeldTextsTest : public testing::Test {
 protected:
  TailGradient gradient_of(std::span<const Sentence> texts) const {
    const StepSet set = steps_of(model_, tail_, texts);
    TailGradient sum{Matrix<double>(193, 48), Matrix<double>(49, 192), Matrix<double>(49, 48)};
    add_steps(set.contexts, set.rows, set.steps, std::vector<double>(set.rows.size(), kOne), sum);
    return sum;
  }
  Filter filter() const {
    std::vector<Token> all(150);
    std::iota(all.begin(), all.end(), 0);
    const OwnText own = own_text(model_, tail_, all, 160, 12, Seed(5));
    Filter result(own.contexts, own.steps, 12, 0.01);
    result.observe(gradient_, 0.5);
    return result;
  }

  std::shared_ptr<Transformer> model_ = Transformer::random(
      small_config(
          TransformerKind::gpt2,
          {.vocabulary = 150, .width = 48, .heads = 4, .inner = 192, .positions = 16, .deviation = 0.1}),
      Seed(3));
  Tail tail_{model_};
  TailGradient gradient_ = gradient_of(kTexts);
  HeldTexts held_{model_, tail_, gradient_, StepWeight(0, 3, 7), {.longest = 7}};
};

TEST_F(HeldTextsTest, AreThoseThatTakeAPart) {
  Filter by = filter();
  held_.set_one(kOne);
  std::vector<Sentence> pool = kTexts;
  pool.push_back({55, 12, 7, 8});
  pool.push_back({31, 2, 9, 140, 11});
  held_.choose(by, pool);
  EXPECT_EQ(held_.texts(), kTexts);
  EXPECT_LT(held_.left(), 1e-3);
  EXPECT_NEAR(held_.one(), kOne, 0.02 * kOne);
  for (const FilmSentence& text : held_.best_first(by)) EXPECT_GT(text.confidence, 0.9);
}

TEST_F(HeldTextsTest, AreTrustedNoMoreThanTheyExplainTogether) {
  Filter by = filter();
  held_.set_one(kOne);
  held_.choose(by, {kTexts[0]});
  const std::vector<FilmSentence> found = held_.best_first(by);
  ASSERT_EQ(found.size(), 1);
  EXPECT_GT(held_.left(), 0.5);
  EXPECT_LE(found[0].confidence, 1 - held_.left() * held_.left());
}

TEST_F(HeldTextsTest, AreNoMoreThanTheBatchHas) {
  Filter by = filter();
  held_.set_one(kOne);
  held_.choose(by, kTexts);
  held_.set_one(kOne / 10);  // as if each came ten times
  std::vector<Sentence> found;
  for (const FilmSentence& text : held_.best_first(by)) found.push_back(text.ids);
  std::ranges::sort(found);
  EXPECT_EQ(found, kTexts);
}

// The text that the gradient bears out least is read anew from what the others leave: all of its own.
TEST_F(HeldTextsTest, GiveBackTheDoubtfulOne) {
  Filter by = filter();
  held_.set_one(kOne);
  std::vector<Sentence> wrong = kTexts;
  wrong[1].back() = 120;
  held_.choose(by, wrong);
  ASSERT_EQ(held_.texts().size(), 3);
  const auto distance = [&](const TailGradient& from) {
    const TailGradient whole = gradient_of(std::span(&kTexts[1], 1));
    TailGradient off = from;
    for (std::size_t i = 0; i < kDyads; ++i)
      for (std::size_t j = 0; j < off[i].data.size(); ++j) off[i].data[j] -= whole[i].data[j];
    return std::sqrt(squared_norm(off) / squared_norm(whole));
  };
  EXPECT_LT(distance(held_.without_doubtful(by)), 0.1);
  EXPECT_GT(distance(held_.residual()), 0.3);
}

TEST_F(HeldTextsTest, SettleOnWholeCopies) {
  Filter by = filter();
  held_.set_one(0.97 * kOne);
  std::vector<Sentence> pool = kTexts;
  pool[0].pop_back();
  pool.push_back(kTexts[0]);
  held_.choose(by, pool);
  held_.settle(by, true);
  EXPECT_EQ(held_.texts(), kTexts);
  EXPECT_LT(held_.left(), 1e-5);
  EXPECT_NEAR(held_.one(), kOne, 1e-5);
}

TEST_F(HeldTextsTest, LetAllGo) {
  Filter by = filter();
  held_.set_one(kOne);
  held_.choose(by, kTexts);
  held_.drop_all();
  EXPECT_TRUE(held_.texts().empty());
  EXPECT_EQ(held_.left(), 1);
  EXPECT_TRUE(held_.best_first(by).empty());
  EXPECT_EQ(squared_norm(held_.residual()), squared_norm(gradient_));
}

TEST(StepWeight, StaysNearWhatTheNumberOfTextsSays) {
  const StepWeight told(0, 16, 20);  // about 160 steps
  EXPECT_NEAR(told.of_texts(std::vector<double>{1.0 / 150, 1.0 / 150, 0.0001}, 1.0 / 160), 1.0 / 150, 1e-9);
  EXPECT_NEAR(told.of_texts(std::vector<double>{1.0}, 1.0), 1.5 / 160, 1e-9);
  EXPECT_EQ(StepWeight(1, 0, 0).of_texts(std::vector<double>{0.9, 0.8}, 0.9), 1);
  EXPECT_EQ(StepWeight(0, 0, 0).of_texts(std::vector<double>{}, 0.3), 0.3);
}

}  // namespace
}  // namespace undertext
