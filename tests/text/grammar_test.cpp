#include "text/grammar.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace undertext {
namespace {

std::map<std::string, int> draw(const Grammar& grammar, const std::string& rule, int count) {
  std::map<std::string, int> seen;
  Random random{Seed(1)};
  for (int i = 0; i < count; ++i) ++seen[grammar.expand(rule, random)];
  return seen;
}

TEST(Grammar, WeightsOfAlternativesAndLines) {
  const Grammar grammar({R"(
# weights 6, 2 and 2
root:
  2: 3* often | rare
  2* line
)"});
  const auto seen = draw(grammar, "root", 10000);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_NEAR(seen.at("often"), 6000, 250);
  EXPECT_NEAR(seen.at("rare"), 2000, 250);
  EXPECT_NEAR(seen.at("line"), 2000, 250);
}

TEST(Grammar, RulesNestAndOptionalsComeInOneCaseOfThree) {
  const Grammar grammar({"root:\n  hi [{who}]\n", "who:\n  there\n"});
  const auto seen = draw(grammar, "root", 9000);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NEAR(seen.at("hi there"), 3000, 250);
  EXPECT_NEAR(seen.at("hi"), 6000, 250);
}

TEST(Grammar, NothingLeavesNoGap) {
  const Grammar grammar({"root:\n  go {nothing} home{nothing}?\nnothing:\n  _\n"});
  EXPECT_EQ(draw(grammar, "root", 1).begin()->first, "go home?");
}

TEST(Grammar, ALineMayStartWithANumberThatIsAWord) {
  const Grammar grammar({"root:\n  6 30\n"});
  EXPECT_EQ(draw(grammar, "root", 1).begin()->first, "6 30");
}

TEST(Grammar, MendsTheArticle) {
  const Grammar grammar({"root:\n  a {noun} and a cat\nnoun:\n  apple | hour | uniform | 8 am | dog\n"});
  std::set<std::string> texts;
  for (const auto& [text, count] : draw(grammar, "root", 200)) texts.insert(text);
  EXPECT_EQ(texts, (std::set<std::string>{"an apple and a cat", "an hour and a cat", "a uniform and a cat",
                                          "an 8 am and a cat", "a dog and a cat"}));
}

TEST(Grammar, FindsRulesThatNobodyUses) {
  const Grammar grammar({"root:\n  x [{used}]\nused:\n  y\nlost:\n  {root}\n"});
  EXPECT_EQ(grammar.unreachable_from({"root"}), (std::vector<std::string>{"lost"}));
  EXPECT_TRUE(grammar.unreachable_from({"lost"}).empty());
}

TEST(GrammarDeathTest, AFaultInAGrammarIsABug) {
  EXPECT_DEATH(Grammar({"root:\n  {nowhere}\n"}), "nowhere");
  EXPECT_DEATH(Grammar({"root:\n  a\nroot:\n  b\n"}), "bug");
  EXPECT_DEATH(Grammar({"root:\n"}), "bug");
  EXPECT_DEATH(Grammar({"  orphan\n"}), "bug");
  EXPECT_DEATH(Grammar({"root:\n  {open\n"}), "bug");
}

}  // namespace
}  // namespace undertext
