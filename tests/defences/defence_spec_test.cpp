#include "defences/defence_spec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"

namespace undertext {
namespace {

std::string complaint(const std::string& text) {
  try {
    parse_defence(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(DefenceSpec, ReadsWhatIsSaidAndFillsInTheRest) {
  const DefenceSpec spec = parse_defence("dpsgd:clip=1.5,sigma=2");
  EXPECT_EQ(spec.kind, "dpsgd");
  EXPECT_EQ(spec.number("clip"), 1.5);
  EXPECT_EQ(spec.number("sigma"), 2);
  EXPECT_EQ(spec.text("sampling"), "batches");
  EXPECT_EQ(spec.strength(), 2);
  EXPECT_EQ(parse_defence("pruning").number("share"), 0.9);
  EXPECT_TRUE(std::isnan(parse_defence("frozen-embedding").strength()));
  EXPECT_TRUE(parse_defence("vocabulary:words=30").values.at("words").is_number_integer());
}

TEST(DefenceSpec, IsWrittenAsItIsRead) {
  for (const char* text : {"noise-per-step:sigma=0.1", "noise-on-result:sigma=1e-06,noise=laplace,clip=1",
                           "dpsgd:sigma=0.5,clip=1,sampling=poisson", "pruning:share=0.9,scope=all",
                           "frozen-embedding", "vocabulary:words=500", "secure-aggregation:users=10"})
    EXPECT_EQ(text_of(parse_defence(text)), text);
  // The strength is said even where it is the standard one.
  EXPECT_EQ(text_of(parse_defence("pruning")), "pruning:share=0.9");
}

TEST(DefenceSpec, ReadsASectionOfACell) {
  const nlohmann::json cell = {{"kind", "pruning"}, {"share", 0.5}, {"scope", "all"}, {"sigma", nullptr}};
  EXPECT_EQ(text_of(defence_from(cell)), "pruning:share=0.5,scope=all");
}

TEST(DefenceSpec, SaysWhatIsWrong) {
  EXPECT_EQ(complaint("noise").substr(0, 38), "\"noise\": no such defence, expected one");
  EXPECT_NE(complaint(""), "");
  EXPECT_EQ(complaint("dpsgd:clip"), "dpsgd: \"clip\" given, expected key=value");
  EXPECT_EQ(complaint("dpsgd:norm=1"), "dpsgd: there is no \"norm\", expected sigma, clip, sampling");
  EXPECT_EQ(complaint("frozen-embedding:x=1"), "frozen-embedding: has nothing to set, not \"x\"");
  EXPECT_EQ(complaint("pruning:share=1"), "pruning: share is \"1\", expected a number from 0 to 0.999999");
  EXPECT_EQ(complaint("pruning:share=0.1,share=0.2"), "pruning: share is given twice, expected it once");
  EXPECT_EQ(complaint("pruning:share=half"),
            "pruning: share is \"half\", expected a number from 0 to 0.999999");
  EXPECT_EQ(complaint("pruning:scope=some"), "pruning: scope is \"some\", expected each or all");
  EXPECT_EQ(complaint("vocabulary:words=1.5"),
            "vocabulary: words is \"1.5\", expected a whole number from 1 to 1000000000");
  EXPECT_NE(complaint("noise-per-step:sigma=nan"), "");
  EXPECT_NE(complaint("noise-per-step:sigma=-1"), "");
}

// Every parameter belongs to a kind that there is, every strength is a parameter of its kind.
TEST(DefenceKind, ListsFitTogether) {
  std::set<std::string> names;
  for (const DefenceKind& kind : defence_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(text_of(parse_defence(kind.name)).substr(0, kind.name.size()), kind.name);
  }
  for (const DefenceParameter& parameter : defence_parameters())
    for (const std::string& kind : parameter.kinds) EXPECT_TRUE(names.contains(kind)) << kind;
}

}  // namespace
}  // namespace undertext
