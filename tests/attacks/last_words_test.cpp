#include "attacks/last_words.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cifg_lstm.h"

namespace undertext {
namespace {

TEST(LastWords, AreReadOffTheHiddenVector) {
  CifgConfig config;
  config.vocabulary = 200;
  config.embedding = 48;
  config.units = 96;
  const std::shared_ptr<const CifgLstm> model = CifgLstm::random(config, Seed(5));
  const OutputLayer layer(*model);
  std::vector<Token> words;
  for (Token word = 3; word < 103; ++word) words.push_back(word);
  const LastWords last_words(std::make_unique<CifgReader>(model), layer, model->start_token(), words,
                             Seed(1));

  // Prefixes of four words that it has never seen.
  constexpr std::int64_t kPrefixes = 300;
  CifgReader reader(model);
  Random random(Seed(6));
  std::vector<StateId> states(kPrefixes, -1);
  std::vector<Token> tokens(kPrefixes, model->start_token());
  std::vector<std::int32_t> last(kPrefixes), before(kPrefixes);
  for (int depth = 0; depth <= 4; ++depth) {
    const StateId first = reader.extend(states, tokens);
    for (std::int64_t i = 0; i < kPrefixes; ++i) {
      states[i] = first + static_cast<StateId>(i);
      if (depth == 4) continue;
      before[i] = last[i];
      last[i] = static_cast<std::int32_t>(random.below(words.size()));
      tokens[i] = words[last[i]];
    }
  }
  Matrix<float> h(kPrefixes, reader.width());
  for (std::int64_t i = 0; i < kPrefixes; ++i)
    std::copy_n(reader.hidden(states[i]), reader.width(), h.row(i));

  const auto better = [](const Matrix<float>& scores, std::int64_t i, std::int32_t word) {
    return std::count_if(scores.row(i), scores.row(i) + scores.cols,
                         [&](float score) { return score > scores(i, word); });
  };
  const Matrix<float> scores = last_words.scores(h);
  const std::vector<std::vector<std::int32_t>> after = {last};
  const Matrix<float> earlier = last_words.scores(h, after);
  ASSERT_EQ(scores.cols, 101);
  int right = 0, near = 0;
  for (std::int64_t i = 0; i < kPrefixes; ++i) {
    right += better(scores, i, last[i]) == 0;
    near += better(earlier, i, before[i]) < 10;
  }
  EXPECT_GE(right, kPrefixes * 95 / 100);
  EXPECT_GE(near, kPrefixes * 60 / 100);  // by chance: ten of a hundred

  // <S> alone comes after the words.
  Matrix<float> start(1, reader.width());
  const StateId none = -1;
  const Token token = model->start_token();
  std::copy_n(reader.hidden(reader.extend({&none, 1}, {&token, 1})), reader.width(), start.row(0));
  EXPECT_EQ(better(last_words.scores(start), 0, 100), 0);
}

}  // namespace
}  // namespace undertext
