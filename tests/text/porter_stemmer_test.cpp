#include "text/porter_stemmer.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace undertext {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Words of the paper's own lists, carried through all steps: where the paper shows what one rule makes of a
// word, later steps may shorten it further.
TEST(PorterStemmer, OfThePublishedExamples) {
  const Pairs examples = {{"caresses", "caress"},
                          {"ponies", "poni"},
                          {"ties", "ti"},
                          {"caress", "caress"},
                          {"cats", "cat"},
                          {"feed", "feed"},
                          {"agreed", "agre"},
                          {"plastered", "plaster"},
                          {"bled", "bled"},
                          {"motoring", "motor"},
                          {"sing", "sing"},
                          {"conflated", "conflat"},
                          {"troubled", "troubl"},
                          {"sized", "size"},
                          {"hopping", "hop"},
                          {"tanned", "tan"},
                          {"falling", "fall"},
                          {"hissing", "hiss"},
                          {"fizzed", "fizz"},
                          {"failing", "fail"},
                          {"filing", "file"},
                          {"happy", "happi"},
                          {"sky", "sky"},
                          {"relational", "relat"},
                          {"conditional", "condit"},
                          {"rational", "ration"},
                          {"valenci", "valenc"},
                          {"hesitanci", "hesit"},
                          {"digitizer", "digit"},
                          {"conformabli", "conform"},
                          {"radicalli", "radic"},
                          {"differentli", "differ"},
                          {"vileli", "vile"},
                          {"analogousli", "analog"},
                          {"operator", "oper"},
                          {"feudalism", "feudal"},
                          {"decisiveness", "decis"},
                          {"hopefulness", "hope"},
                          {"callousness", "callous"},
                          {"formaliti", "formal"},
                          {"sensitiviti", "sensit"},
                          {"sensibiliti", "sensibl"},
                          {"triplicate", "triplic"},
                          {"formative", "form"},
                          {"formalize", "formal"},
                          {"electriciti", "electr"},
                          {"electrical", "electr"},
                          {"hopeful", "hope"},
                          {"goodness", "good"},
                          {"revival", "reviv"},
                          {"allowance", "allow"},
                          {"inference", "infer"},
                          {"airliner", "airlin"},
                          {"gyroscopic", "gyroscop"},
                          {"adjustable", "adjust"},
                          {"defensible", "defens"},
                          {"irritant", "irrit"},
                          {"replacement", "replac"},
                          {"adjustment", "adjust"},
                          {"dependent", "depend"},
                          {"adoption", "adopt"},
                          {"homologou", "homolog"},
                          {"communism", "commun"},
                          {"activate", "activ"},
                          {"angulariti", "angular"},
                          {"homologous", "homolog"},
                          {"effective", "effect"},
                          {"bowdlerize", "bowdler"},
                          {"probate", "probat"},
                          {"rate", "rate"},
                          {"cease", "ceas"},
                          {"controll", "control"},
                          {"roll", "roll"},
                          {"generalizations", "gener"},
                          {"oscillators", "oscil"}};
  for (const auto& [word, stem] : examples) EXPECT_EQ(porter_stem(word), stem) << word;
}

TEST(PorterStemmer, BringsTheFormsOfAWordTogether) {
  for (const char* word : {"connect", "connected", "connecting", "connection", "connections"})
    EXPECT_EQ(porter_stem(word), "connect") << word;
}

TEST(PorterStemmer, LeavesAloneWhatIsNoWord) {
  EXPECT_EQ(porter_stem(""), "");
  EXPECT_EQ(porter_stem("is"), "is");
  EXPECT_EQ(porter_stem("2000s"), "2000s");
  EXPECT_EQ(porter_stem("caf\u00E9s"), "caf\u00E9s");
}

}  // namespace
}  // namespace undertext
