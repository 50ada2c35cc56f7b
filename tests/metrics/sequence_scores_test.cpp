#include "metrics/sequence_scores.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace undertext {
namespace {

using Sequences = std::vector<Sentence>;

const Sequences kTruth = {{1, 2, 3, 4}, {5, 6, 7, 8}};

TEST(SequenceScores, CountTokensInTheirPlace) {
  // In the other order; of the second true sequence two tokens have changed places, of the first one is
  // wrong.
  const Sequences recovered = {{5, 6, 8, 7}, {1, 2, 3, 9}};
  const SequenceScores scores = score_sequences(kTruth, recovered);
  EXPECT_EQ(scores.partner, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(scores.tokens_right, 5);
  EXPECT_DOUBLE_EQ(scores.total_accuracy, 5.0 / 8);
  EXPECT_DOUBLE_EQ(scores.token_accuracy, 7.0 / 8);
  EXPECT_DOUBLE_EQ(scores.most_vulnerable, 3.0 / 4);
  EXPECT_EQ(scores.exact, 0);
  EXPECT_DOUBLE_EQ(scores.rouge_l, 3.0 / 4) << "3 of 4 in both";
  EXPECT_EQ(scores.bleu, 0) << "no four in a row";
  EXPECT_FALSE(scores.calibration_error || scores.certified_share || scores.certified_accuracy);
}

TEST(SequenceScores, OfAPerfectRecoveryAreOne) {
  const SequenceScores scores = score_sequences(kTruth, Sequences{kTruth[1], kTruth[0]});
  for (const double value : {scores.total_accuracy, scores.token_accuracy, scores.most_vulnerable,
                             scores.exact, scores.rouge_l, scores.bleu})
    EXPECT_DOUBLE_EQ(value, 1);
}

// The bag decides, not the places: the paper's matching, which "potentially underestimates" (appendix A).
TEST(SequenceScores, MatchByTheBagOfTokens) {
  const Sequences recovered = {{4, 3, 2, 1}, {1, 2, 9, 9}};
  const SequenceScores scores = score_sequences(Sequences{{1, 2, 3, 4}, {9, 9, 9, 9}}, recovered);
  EXPECT_EQ(scores.partner, (std::vector<std::int64_t>{0, 1}));
  EXPECT_DOUBLE_EQ(scores.total_accuracy, 2.0 / 8);
}

TEST(SequenceScores, MatchByPlacesBetweenEqualBags) {
  const Sequences truth = {{1, 2, 3}, {3, 2, 1}}, recovered = {{3, 2, 1}, {1, 2, 3}};
  EXPECT_DOUBLE_EQ(score_sequences(truth, recovered).total_accuracy, 1);
}

TEST(SequenceScores, CountWhatIsMissingAndWhatIsTooMuch) {
  const SequenceScores few = score_sequences(kTruth, Sequences{{1, 2, 3, 4}});
  EXPECT_DOUBLE_EQ(few.total_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(few.token_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(few.exact, 0.5);
  EXPECT_DOUBLE_EQ(few.rouge_l, 0.5);
  EXPECT_EQ(few.partner, (std::vector<std::int64_t>{0, -1}));
  const SequenceScores many = score_sequences(kTruth, Sequences{kTruth[0], kTruth[1], {1, 2, 3, 4}});
  EXPECT_DOUBLE_EQ(many.total_accuracy, 1);
  EXPECT_DOUBLE_EQ(many.token_accuracy, 8.0 / 12);
  const SequenceScores longer = score_sequences(kTruth, Sequences{{1, 2, 3, 4, 5, 6, 7, 8}});
  EXPECT_DOUBLE_EQ(longer.total_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(longer.token_accuracy, 1);
}

TEST(SequenceScores, AreZeroWithoutAnything) {
  EXPECT_EQ(score_sequences({}, kTruth).total_accuracy, 0);
  const SequenceScores none = score_sequences(kTruth, {});
  EXPECT_EQ(none.total_accuracy, 0);
  EXPECT_EQ(none.tokens, 8);
  EXPECT_EQ(score_sequences(Sequences{{}}, Sequences{{}}).token_accuracy, 0);
}

TEST(SequenceScores, SayWhetherTheAttackKnowsWhatItKnows) {
  const Sequences recovered = {{1, 2, 3, 9}, {5, 6, 7, 8}};
  const std::vector<std::vector<double>> confidence = {{1, 1, 0.75, 0.72}, {1, 1, 0.15, 0.05}};
  const std::vector<std::vector<bool>> certified = {{true, true, false, true}, {true, false, false, false}};
  const SequenceScores scores = score_sequences(kTruth, recovered, {confidence, certified});
  // Bins: four at 1, all right; .75 and .72, one right; .15 right; .05 right.
  EXPECT_NEAR(*scores.calibration_error, (0 + (1.47 - 1) + (1 - 0.15) + (1 - 0.05)) / 8, 1e-12);
  EXPECT_DOUBLE_EQ(*scores.certified_share, 4.0 / 8);
  EXPECT_DOUBLE_EQ(*scores.certified_accuracy, 3.0 / 4);
}

TEST(SequenceScores, HoldASequenceThatStandsForNoneToBeWrong) {
  const Sequences recovered = {kTruth[0], kTruth[1], {1, 2, 3, 4}};
  const std::vector<std::vector<double>> sure(3, std::vector<double>(4, 1.0));
  const std::vector<std::vector<bool>> all(3, std::vector<bool>(4, true)),
      none(3, std::vector<bool>(4, false));
  const SequenceScores scores = score_sequences(kTruth, recovered, {sure, all});
  EXPECT_NEAR(*scores.calibration_error, 1.0 / 3, 1e-12);
  EXPECT_NEAR(*scores.certified_accuracy, 2.0 / 3, 1e-12);
  EXPECT_FALSE(score_sequences(kTruth, recovered, {sure, none}).certified_accuracy);
}

TEST(SequenceScores, AsJsonLeaveOutWhatIsNotKnown) {
  const nlohmann::json json = score_sequences(kTruth, kTruth);
  EXPECT_EQ(json.at("total_accuracy"), 1);
  EXPECT_TRUE(json.at("certified_accuracy").is_null());
  EXPECT_FALSE(json.contains("partner"));
}

}  // namespace
}  // namespace undertext
