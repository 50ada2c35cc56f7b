#include "federated/client_texts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "base/error.h"

namespace undertext {
namespace {

ClientTexts counted_stream(Token tokens, std::int64_t sequence) {
  ClientTexts texts;
  texts.texts = {Sentence(static_cast<std::size_t>(tokens))};
  std::iota(texts.texts[0].begin(), texts.texts[0].end(), 0);
  texts.sequence = sequence;
  return texts;
}

TEST(ClientTexts, AStreamIsCutAnewInEveryEpoch) {
  const ClientTexts texts = counted_stream(1000, 10);
  EXPECT_EQ(texts.size(), 1000);
  std::set<Token> offsets;
  for (std::uint64_t epoch = 0; epoch < 60; ++epoch) {
    const std::vector<Sentence> cut = epoch_of(texts, 1, Seed(epoch));
    std::set<Token> firsts;
    for (const Sentence& sequence : cut) {
      ASSERT_EQ(sequence.size(), 11u);  // ten are predicted
      for (std::size_t i = 1; i < sequence.size(); ++i) EXPECT_EQ(sequence[i], sequence[i - 1] + 1);
      firsts.insert(sequence[0]);
    }
    EXPECT_EQ(firsts.size(), cut.size());
    const Token offset = *firsts.begin();
    EXPECT_LT(offset, 10);
    // One after the other, each beginning with the token that ended the one before.
    Token expected = offset;
    for (const Token first : firsts) EXPECT_EQ(first, std::exchange(expected, expected + 10));
    EXPECT_GE(cut.size(), 98u);
    offsets.insert(offset);
  }
  EXPECT_EQ(offsets.size(), 10u);
}

TEST(ClientTexts, TheOrderIsTheSeeds) {
  const ClientTexts texts = counted_stream(1000, 10);
  EXPECT_EQ(epoch_of(texts, 1, Seed(5)), epoch_of(texts, 1, Seed(5)));
  EXPECT_NE(epoch_of(texts, 1, Seed(5)), epoch_of(texts, 1, Seed(6)));
  const std::vector<Sentence> cut = epoch_of(texts, 1, Seed(5));
  EXPECT_FALSE(std::ranges::is_sorted(cut));
  // Without overlap the tokens are told apart.
  for (const Sentence& sequence : epoch_of(texts, 0, Seed(5))) EXPECT_EQ(sequence.size(), 10u);
}

TEST(ClientTexts, LinesAreShuffledAsTheyAre) {
  ClientTexts texts;
  for (Token i = 0; i < 50; ++i) texts.texts.push_back({i, i});
  EXPECT_EQ(texts.size(), 50);
  std::vector<Sentence> epoch = epoch_of(texts, 1, Seed(1));
  EXPECT_NE(epoch, texts.texts);
  std::ranges::sort(epoch);
  EXPECT_EQ(epoch, texts.texts);
  EXPECT_EQ(whole_of(texts, 1), texts.texts);
}

TEST(ClientTexts, AWholeStreamPredictsEveryTokenButTheFirstOnce) {
  for (const Token tokens : {2, 10, 11, 12, 21, 105}) {
    std::vector<Token> predicted;
    for (const Sentence& sequence : whole_of(counted_stream(tokens, 10), 1)) {
      EXPECT_LE(sequence.size(), 11u);
      predicted.insert(predicted.end(), sequence.begin() + 1, sequence.end());
    }
    std::vector<Token> all(static_cast<std::size_t>(tokens - 1));
    std::iota(all.begin(), all.end(), 1);
    EXPECT_EQ(predicted, all) << tokens;
  }
  EXPECT_TRUE(whole_of(counted_stream(1, 10), 1).empty());
}

TEST(ClientTexts, TooLittleTextIsTold) {
  EXPECT_NO_THROW(epoch_of(counted_stream(20, 10), 1, Seed(1)));
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_FALSE(epoch_of(counted_stream(20, 10), 1, Seed(seed)).empty());
  try {
    epoch_of(counted_stream(19, 10), 1, Seed(1));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "a client's text has 19 tokens, expected at least 20 for sequences of 10");
  }
}

}  // namespace
}  // namespace undertext
