#include "metrics/bleu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>

namespace undertext {
namespace {

// Words as numbers, by the order in which they turn up.
Sentence tokens(const std::string& text) {
  static std::map<std::string, Token> known;
  std::istringstream words(text);
  Sentence sentence;
  for (std::string word; words >> word;)
    sentence.push_back(known.emplace(word, static_cast<Token>(known.size() + 1)).first->second);
  return sentence;
}

using Sequences = std::vector<Sentence>;

const Sequences kReferences = {
    tokens("it is a guide to action that ensures that the military will forever heed party commands"),
    tokens(
        "it is the guiding principle which guarantees the military forces always being under the command of "
        "the party"),
    tokens("it is the practical guide for the army always to heed the directions of the party")};

// Example 1 of Papineni et al. (2002). By hand: the first candidate shares 17 of 18 words ("obeys" is
// missing), 10 of 17 pairs (the paper's own count), 7 of 16 triples and 4 of 15 quadruples, and is as long as
// the second reference.
TEST(Bleu, OfThePublishedExample) {
  const Sequences candidate = {tokens(
      "it is a guide to action which ensures that the military always obeys the commands of the party")};
  const double by_hand = std::pow(17.0 / 18 * 10 / 17 * 7 / 16 * 4 / 15, 0.25);
  EXPECT_NEAR(bleu(kReferences, candidate), by_hand, 1e-12);
  // The second candidate shares no quadruple.
  EXPECT_EQ(bleu(kReferences, Sequences{tokens("it is to insure the troops forever hearing the activity "
                                               "guidebook that party direct")}),
            0);
}

TEST(Bleu, CountsAGramAsOftenAsOneReferenceHasIt) {
  // The first reference has five in a row, so 5 of 8 words, 4 of 7 pairs, 3 of 6 triples, 2 of 5 quadruples.
  const Sequences references = {{1, 1, 1, 1, 1, 2, 3, 4}, {1, 5, 1, 5, 1, 5, 1, 5}};
  const Sequences recovered = {{1, 1, 1, 1, 1, 1, 1, 1}};
  EXPECT_NEAR(bleu(references, recovered), std::pow(5.0 / 8 * 4 / 7 * 3 / 6 * 2 / 5, 0.25), 1e-12);
}

TEST(Bleu, PunishesWhatIsTooShort) {
  const Sequences references = {{1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_DOUBLE_EQ(bleu(references, references), 1);
  EXPECT_NEAR(bleu(references, Sequences{{1, 2, 3, 4, 5, 6}}), std::exp(1 - 8.0 / 6), 1e-12);
}

// One number for all sequences together, not the mean over them.
TEST(Bleu, IsOfTheWholeCorpus) {
  const Sequences references = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  const Sequences recovered = {{6, 7, 8, 9, 10}, {1, 2, 3, 4, 99}};
  EXPECT_NEAR(bleu(references, recovered), std::pow(9.0 / 10 * 7 / 8 * 5 / 6 * 3 / 4, 0.25), 1e-12);
}

TEST(Bleu, IsZeroWithoutAnything) {
  EXPECT_EQ(bleu({}, Sequences{{1}}), 0);
  EXPECT_EQ(bleu(Sequences{{1}}, {}), 0);
  EXPECT_EQ(bleu(Sequences{{1, 2, 3}}, Sequences{{1, 2, 3}}), 0) << "no 4-gram";
}

}  // namespace
}  // namespace undertext
