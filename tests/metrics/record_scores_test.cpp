#include "metrics/record_scores.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace undertext {
namespace {

TEST(RecordScores, CountTextAndOwnerWithinTheFirstCandidates) {
  std::vector<std::string> far(30, "no 99");
  far[6] = "no 12";  // the seventh
  const std::vector<VictimGuess> guesses = {
      {"no 12", {"no 12", "no 13"}, true},
      {"no 34", {"no 43", "no 35", "no 34"}, false},
      {"no 12", far, true},
      {"no 56", {"no 12"}, std::nullopt},
  };
  const RecordScores scores = score_records(guesses);
  EXPECT_EQ(scores.victims, 4);
  EXPECT_DOUBLE_EQ(scores.accuracy[0], 0.25);  // top 1
  EXPECT_DOUBLE_EQ(scores.accuracy[1], 0.5);   // top 5
  EXPECT_DOUBLE_EQ(scores.accuracy[2], 0.75);  // top 10
  EXPECT_DOUBLE_EQ(scores.accuracy[4], 0.75);  // top 50
  // Edits: 0, 2 (43 for 34), 2 (99 for 12), 2 (12 for 56); then 0, 0, 2, 2; then 0, 0, 0, 2.
  EXPECT_DOUBLE_EQ(scores.distance[0], 6 / 4.0);
  EXPECT_DOUBLE_EQ(scores.distance[1], 1);
  EXPECT_DOUBLE_EQ(scores.distance[2], 0.5);
  EXPECT_DOUBLE_EQ(*scores.owners, 2 / 3.0);
}

TEST(RecordScores, SayNothingOfOwnersThatNobodyNames) {
  const std::vector<VictimGuess> guesses = {{"no 12", {}, std::nullopt}};
  const RecordScores scores = score_records(guesses);
  EXPECT_FALSE(scores.owners);
  EXPECT_DOUBLE_EQ(scores.distance[0], 5);  // all of the record is missing
  const nlohmann::json json = scores;
  EXPECT_FALSE(json.contains("owners"));
  EXPECT_EQ(json.at("top_1"), 0);
  EXPECT_EQ(json.at("distance_50"), 5);
  EXPECT_EQ(score_records({}).victims, 0);
}

TEST(CharacterDistance, CountsCharactersNotBytes) {
  EXPECT_EQ(character_distance("caf\u00E9", "cafe"), 1);
  EXPECT_EQ(character_distance("123-45", "124-5"), 2);
  EXPECT_EQ(character_distance("", "abc"), 3);
}

}  // namespace
}  // namespace undertext
