#include "attacks/records/token_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "small_reader.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

// The text of each path, in the order of tokens.
std::vector<std::string> texts_of(const TokenPattern& pattern, std::int32_t state = 0, Sentence before = {}) {
  std::vector<std::string> texts;
  const TokenPattern::State& at = pattern.states()[static_cast<std::size_t>(state)];
  if (at.final) texts.push_back(pattern.text(before));
  for (const TokenPattern::Edge& edge : at.edges) {
    EXPECT_EQ(pattern.alphabet()[static_cast<std::size_t>(edge.slot)], edge.token);
    Sentence longer = before;
    longer.push_back(edge.token);
    const auto more = texts_of(pattern, edge.to, longer);
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

TEST(TokenPattern, TakesEachCharacterAsAToken) {
  const CharacterTokenizer characters = small_characters();
  const RecordPattern pattern = RecordPattern::parse("no {a|ab|b}-{d}");
  const TokenPattern tokens(pattern, characters);
  std::vector<std::string> texts = texts_of(tokens);
  std::ranges::sort(texts);
  EXPECT_EQ(texts, pattern.all());
  // Nothing is listed: as many states as the pattern has, however many texts.
  const RecordPattern large = RecordPattern::parse("{dddddddddddd}");
  EXPECT_EQ(TokenPattern(large, characters).states().size(), large.states().size());
}

TEST(TokenPattern, KeepsFixedCharactersThatTheModelDoesNotKnow) {
  const TokenPattern tokens(RecordPattern::parse("\u00E9\u00E8{d}"), small_characters());
  const std::vector<std::string> texts = texts_of(tokens);
  ASSERT_EQ(texts.size(), 10u);
  EXPECT_EQ(texts[3], "\u00E9\u00E83");
}

TEST(TokenPattern, RefusesFreeCharactersThatTheModelDoesNotKnow) {
  EXPECT_THROW(TokenPattern(RecordPattern::parse("x{A}"), small_characters()), UserError);
  EXPECT_THROW(TokenPattern(RecordPattern::parse("x{b|\u00E9}"), small_characters()), UserError);
}

TEST(TokenPattern, ListsTextsForOtherTokenizers) {
  const Vocabulary words = build_vocabulary(std::vector<std::string>{"my name is ann bea maria cleo"}, 100);
  const RecordPattern pattern = RecordPattern::parse("my name is {ann|bea maria|bea}");
  const TokenPattern tokens(pattern, words);
  std::vector<std::string> texts = texts_of(tokens);
  std::ranges::sort(texts);
  EXPECT_EQ(texts, pattern.all());
  EXPECT_FALSE(tokens.states().front().edges.front().free);
  EXPECT_THROW(TokenPattern(RecordPattern::parse("my name is {aaaaaaa}"), words), UserError);
}

}  // namespace
}  // namespace undertext
