#include "metrics/film_scores.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "metrics/entity_scores.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

const std::vector<std::string> kWords = {"call", "robert", "in",   "houston", "on",    "friday",
                                         "see",  "you",    "soon", "sell",    "the",   "gas",
                                         "to",   "anna",   "now",  "please",  "early", "tomorrow"};

const Vocabulary& vocabulary() {
  static const Vocabulary made = build_vocabulary(kWords, 100);
  return made;
}

std::vector<Sentence> encoded(const std::vector<std::string>& texts) {
  std::vector<Sentence> all;
  for (const std::string& text : texts) all.push_back(vocabulary().encode(text));
  return all;
}

const std::vector<std::string> kTruth = {"call robert in houston on friday", "sell the gas to anna now"};

TEST(EntityScores, OfOneExample) {
  const EntityFinder finder;
  const auto truth = entities_of(finder, kTruth[0]);
  EXPECT_EQ(truth, (std::vector<std::string>{"friday", "houston", "robert"}));
  // Two of three, and one that is wrong: recall 2/3, F1 4/6.
  const auto other = entities_of(finder, "call robert on friday in texas");
  EXPECT_DOUBLE_EQ(*entity_f1(truth, other), 4.0 / 6);
  EXPECT_DOUBLE_EQ(*entity_recall(truth, other), 2.0 / 3);
  EXPECT_FALSE(entity_f1({}, other));
  EXPECT_EQ(entity_f1(truth, {}), 0);
}

TEST(FilmScores, OfWhatIsRankedFirst) {
  const auto truth = encoded(kTruth);
  const auto recovered = encoded({"call robert on friday see you soon", "sell the gas to anna now"});
  const FilmScores scores = film_scores(truth, recovered, vocabulary());
  // 4 words of 6 and 7, "call robert" and "on friday" of 5 and 6 pairs.
  EXPECT_DOUBLE_EQ(scores.first.rouge_1, 8.0 / 13);
  EXPECT_DOUBLE_EQ(scores.first.rouge_2, 4.0 / 11);
  EXPECT_DOUBLE_EQ(scores.first.rouge_l, 8.0 / 13);
  EXPECT_DOUBLE_EQ(*scores.first.nerr, 4.0 / 5);
  EXPECT_EQ(scores.first.nearest, 0);
  EXPECT_FALSE(scores.first.exact);
  EXPECT_EQ(scores.best.rouge_l, 1);
  EXPECT_TRUE(scores.best.exact);
  EXPECT_DOUBLE_EQ(scores.matched.rouge_l, (8.0 / 13 + 1) / 2);
  EXPECT_DOUBLE_EQ(scores.exact, 0.5);
  EXPECT_DOUBLE_EQ(*scores.entity_recall, 3.0 / 4);
}

// Table 3: one true sentence of two is met, by two recovered ones of three.
TEST(FilmScores, AtAQuarterOfRougeL) {
  const FilmScores scores = film_scores(
      encoded(kTruth), encoded({"call robert in houston", "robert in houston", "see you soon please"}),
      vocabulary());
  EXPECT_DOUBLE_EQ(scores.recall_25, 1.0 / 2);
  EXPECT_DOUBLE_EQ(scores.precision_25, 2.0 / 3);
}

TEST(FilmScores, MarksDoNotCount) {
  auto truth = encoded({"see you soon"});
  auto recovered = truth;
  recovered[0].push_back(vocabulary().end());
  recovered[0].insert(recovered[0].begin(), vocabulary().start());
  EXPECT_EQ(film_scores(truth, recovered, vocabulary()).exact, 1);
  const Sentence bag = {truth[0][0], truth[0][1], vocabulary().end(), vocabulary().id("gas")};
  const FilmScores scores = film_scores(truth, recovered, vocabulary(), {.bag = bag});
  EXPECT_DOUBLE_EQ(scores.bag->precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.bag->recall, 2.0 / 3);
}

TEST(FilmScores, OfTheConfidence) {
  const auto truth = encoded(kTruth);
  const auto recovered = encoded({kTruth[0], "see you soon", kTruth[1]});
  EXPECT_EQ(film_scores(truth, recovered, vocabulary(), {.confidence = std::vector<double>{.9, .1, .5}}).auc,
            1);
  EXPECT_EQ(film_scores(truth, recovered, vocabulary(), {.confidence = std::vector<double>{.9, .7, .5}}).auc,
            .5);
  EXPECT_FALSE(film_scores(truth, recovered, vocabulary()).auc);
}

TEST(FilmScores, OfNothing) {
  const nlohmann::json json = film_scores(encoded(kTruth), {}, vocabulary());
  EXPECT_EQ(json.at("first_rouge_l"), 0);
  EXPECT_EQ(json.at("rouge_l"), 0);
  EXPECT_EQ(json.at("entity_recall"), 0);
  EXPECT_FALSE(json.contains("bag_precision"));
  EXPECT_FALSE(json.contains("auc"));
}

TEST(FilmScores, SayNothingOfEntitiesWhereThereAreNone) {
  const auto text = encoded({"see you soon"});
  const nlohmann::json without = film_scores(text, text, vocabulary());
  const nlohmann::json with = film_scores(encoded(kTruth), text, vocabulary());
  const nlohmann::json nothing = film_scores(encoded(kTruth), {}, vocabulary());
  for (const char* name : {"first_nerr", "best_nerr", "entity_recall"}) {
    EXPECT_FALSE(without.contains(name)) << name;
    EXPECT_EQ(with.at(name), 0) << name;
    EXPECT_EQ(nothing.at(name), 0) << name;
  }
  // The first is a true one without an entity, and no failure to find one.
  const nlohmann::json mixed =
      film_scores(encoded({kTruth[0], "see you soon"}), encoded({"see you soon", kTruth[0]}), vocabulary());
  EXPECT_FALSE(mixed.contains("first_nerr"));
  EXPECT_EQ(mixed.at("best_nerr"), 1);
}

TEST(FilmScores, TakeTheEntitiesThatAreGiven) {
  const std::vector<std::string> listed = {"the gas"};
  const FilmScores scores = film_scores(encoded(kTruth), encoded({"see the gas soon"}), vocabulary(),
                                        {.entities = EntityFinder(listed)});
  EXPECT_EQ(scores.first.nerr, 1);
}

}  // namespace
}  // namespace undertext
