#include "text/record_pattern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "temporary_folder.h"

namespace undertext {
namespace {

using Texts = std::vector<std::string>;

TEST(RecordPattern, CountsItsTexts) {
  EXPECT_DOUBLE_EQ(RecordPattern::parse("my social security number is {ddd}-{dd}-{dddd}").size(), 1e9);
  EXPECT_NEAR(RecordPattern::parse("{ddd}").log2_size(), 9.965784, 1e-6);
  EXPECT_DOUBLE_EQ(RecordPattern::parse("{Aax}").size(), 26 * 26 * 16);
  EXPECT_DOUBLE_EQ(RecordPattern::parse("in {red|green} or {a|bc|def}").size(), 6);
}

TEST(RecordPattern, ListsItsTextsInOrder) {
  EXPECT_EQ(RecordPattern::parse("x{2|1}{b|a}!").all(), (Texts{"x1a!", "x1b!", "x2a!", "x2b!"}));
}

TEST(RecordPattern, MakesEachTextOnce) {
  // a + bc and ab + c are the same text, and so are two equal alternatives.
  const RecordPattern pattern = RecordPattern::parse("{a|ab|a}{c|bc}");
  EXPECT_EQ(pattern.all(), (Texts{"abbc", "abc", "ac"}));
  EXPECT_DOUBLE_EQ(pattern.size(), 3);
  EXPECT_TRUE(pattern.matches("abc"));
  EXPECT_FALSE(pattern.matches("ab"));
  EXPECT_FALSE(pattern.matches("acc"));
}

TEST(RecordPattern, LetsOneTextBeginAnother) {
  const RecordPattern pattern = RecordPattern::parse("{a|ab|abc}");
  EXPECT_EQ(pattern.all(), (Texts{"a", "ab", "abc"}));
  EXPECT_TRUE(pattern.matches("ab"));
  EXPECT_FALSE(pattern.matches(""));
  EXPECT_FALSE(pattern.matches("abcd"));
}

TEST(RecordPattern, TakesBracesBarsAndBackslashesAsTheyAre) {
  EXPECT_EQ(RecordPattern::parse(R"(\{{x\||\}y}\}\\ | )").all(), (Texts{"{x|}\\ | ", "{}y}\\ | "}));
}

TEST(RecordPattern, KnowsMoreThanAscii) {
  const RecordPattern pattern = RecordPattern::parse("caf\u00E9 {\u4E16|\u754C}");
  EXPECT_TRUE(pattern.matches("caf\u00E9 \u754C"));
  EXPECT_FALSE(pattern.matches("caf\u00E9 \u754D"));
  EXPECT_FALSE(pattern.matches("caf\u00E9 \xE4\xB8"));
}

TEST(RecordPattern, TellsFreeFromFixed) {
  const RecordPattern pattern = RecordPattern::parse("n{d}-{red|rot}");
  std::string shape;
  for (const RecordPattern::State* state = &pattern.states().front(); !state->edges.empty();
       state = &pattern.states()[static_cast<std::size_t>(state->edges.front().to)])
    shape += state->edges.front().free ? 'f' : '.';
  EXPECT_EQ(shape, ".f.fff");
  // Ten digits lead to the same place: the automaton stays as small as the pattern.
  EXPECT_EQ(pattern.states().size(), 8u);
}

TEST(RecordPattern, EdgesLeadOnward) {
  const RecordPattern pattern = RecordPattern::parse("{a|ab|abc}{c|bc|d}{d|cd}");
  for (std::size_t s = 0; s < pattern.states().size(); ++s)
    for (const RecordPattern::Edge& edge : pattern.states()[s].edges)
      EXPECT_GT(edge.to, static_cast<std::int32_t>(s));
}

TEST(RecordPattern, SamplesUniformly) {
  // Alternatives of unequal length, ambiguous ones, and one text that begins another.
  const RecordPattern pattern = RecordPattern::parse("{a|ab}{c|bc|bcx}");
  const Texts all = pattern.all();
  ASSERT_EQ(all, (Texts{"abbc", "abbcx", "abc", "abcx", "ac"}));
  Random random(Seed(1).derive("records"));
  std::map<std::string, int> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) ++counts[pattern.sample(random)];
  ASSERT_EQ(counts.size(), all.size());
  // Four standard deviations of a binomial count with p = 1/5 are 226.
  for (const auto& [text, count] : counts) EXPECT_NEAR(count, kDraws / 5.0, 226) << text;
}

TEST(RecordPattern, SamplesAreTheSameForTheSameSeed) {
  const RecordPattern pattern = RecordPattern::parse("my social security number is {ddd}-{dd}-{dddd}");
  Random one(Seed(7)), two(Seed(7));
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    const std::string text = pattern.sample(one);
    EXPECT_EQ(text, pattern.sample(two));
    EXPECT_TRUE(pattern.matches(text));
    EXPECT_EQ(text.size(), 40u);
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 50u);
}

class RecordLists : public TemporaryFolder {};

TEST_F(RecordLists, ComeFromFiles) {
  const auto file = write("names.txt", "Ann\r\n\nBea Maria\nAnn\n");
  EXPECT_EQ(RecordPattern::parse("{@" + file.string() + "} {d}").size(), 20);
  EXPECT_TRUE(RecordPattern::parse("{@" + file.string() + "} {d}").matches("Bea Maria 7"));
  EXPECT_NE(user_error([&] {
              RecordPattern::parse("{@" + (folder_ / "gone.txt").string() + "}");
            }).find("gone.txt"),
            std::string::npos);
  const auto empty = write("empty.txt", "");
  EXPECT_NE(user_error([&] { RecordPattern::parse("{@" + empty.string() + "}"); }).find("empty"),
            std::string::npos);
}

TEST(RecordPattern, RefusesWhatIsNoPattern) {
  const std::map<std::string, std::string> wrong = {
      {"", "leaves nothing free"},
      {"no free place", "leaves nothing free"},
      {"{red|red}", "leaves nothing free"},
      {"a {ddd", "{ at character 3 is not closed"},
      {"a {dd{d}", "{ at character 3 is not closed"},
      {"a}", "} at character 2 closes nothing"},
      {"{ddd}}", "} at character 6 closes nothing"},
      {"{}", "\"{}\" is empty"},
      {"{red|}", "\"{red|}\" has an empty alternative"},
      {"{|}", "empty alternative"},
      {"{ddq}", "holds \"q\""},
      {"{D}", "holds \"D\""},
      {"{@}", "names no file"},
      {"{d}\\", "escapes nothing"},
      {"{d}\\n", "escapes nothing"},
      {"{d}\xFF", "not UTF-8"},
      {"{" + std::string(400, 'd') + "}", "more texts than can be counted"},
  };
  for (const auto& [pattern, message] : wrong)
    EXPECT_NE(user_error([&] { RecordPattern::parse(pattern); }).find(message), std::string::npos)
        << pattern << ": " << user_error([&] { RecordPattern::parse(pattern); });
}

}  // namespace
}  // namespace undertext
