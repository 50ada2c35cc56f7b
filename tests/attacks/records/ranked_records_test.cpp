#include "attacks/records/ranked_records.h"

#include <gtest/gtest.h>

#include "attacks/records/observed_rounds.h"
#include "attacks/records/record_correlation.h"

namespace undertext {
namespace {

using Values = std::vector<double>;

std::vector<std::int64_t> order_of(const std::vector<RankedRecord>& ranked) {
  std::vector<std::int64_t> order;
  for (const RankedRecord& one : ranked) order.push_back(one.record);
  return order;
}

TEST(RankByExposure, PutsTheMostExposedFirst) {
  const auto ranked = rank_by_exposure(Values{-2, -1, -3, -1});
  EXPECT_EQ(order_of(ranked), (std::vector<std::int64_t>{1, 3, 0, 2}));
  EXPECT_DOUBLE_EQ(ranked[0].rank, 1.5);
  EXPECT_DOUBLE_EQ(ranked[3].rank, 4);
}

TEST(RankBySum, TakesRankOneForTheBestInBothTerms) {
  // Correlation ranks 1, 2.5, 4, 2.5; exposure ranks 2, 1, 3, 4: sums 3, 3.5, 7, 6.5.
  const auto ranked = rank_by_sum(Values{.9, .5, -.2, .5}, Values{-1, -.5, -2, -9});
  EXPECT_EQ(order_of(ranked), (std::vector<std::int64_t>{0, 1, 3, 2}));
  EXPECT_DOUBLE_EQ(ranked[0].rank, 3);
  EXPECT_DOUBLE_EQ(ranked[1].rank, 3.5);
  EXPECT_DOUBLE_EQ(ranked[2].rank, 6.5);
}

TEST(RankBySum, GivesEqualSumsToTheMoreExposed) {
  EXPECT_EQ(order_of(rank_by_sum(Values{.9, .5}, Values{-2, -1})), (std::vector<std::int64_t>{1, 0}));
}

TEST(ExposureInBits, IsWhatTheModelSavesOfGuessing) {
  EXPECT_DOUBLE_EQ(exposure_in_bits(10, 1), 10);
  EXPECT_DOUBLE_EQ(exposure_in_bits(10, 512), 1);
}

constexpr TookPart kYes = TookPart::yes, kNo = TookPart::no, kUnknown = TookPart::unknown;

FederationObservation two_clients() {
  FederationObservation observation;
  observation.clients = 2;
  observation.rounds = 4;
  observation.took_part = {{kYes, kNo}, {kYes, kNo}, {kNo, kYes}, {kNo, kYes}};
  return observation;
}

TEST(RecordCorrelation, FollowsWhoTookPart) {
  const Values changes = exposure_changes(Values{0, 3, 5, 4, 2});
  EXPECT_EQ(changes, (Values{3, 2, -1, -2}));
  // Ranks 4, 3, 2, 1 against 3.5, 3.5, 1.5, 1.5: 4 / sqrt(20).
  EXPECT_NEAR(eavesdropping_correlation(changes, two_clients(), 0), 0.894427, 1e-6);
  EXPECT_NEAR(eavesdropping_correlation(changes, two_clients(), 1), -0.894427, 1e-6);
  EXPECT_EQ(owner_by_correlation(changes, two_clients()), 0);
  EXPECT_NEAR(watermark_correlation(changes, Values{9, 8, 1, 2}), 0.8, 1e-12);
}

TEST(RecordCorrelation, LeavesOutWhatIsUnknown) {
  FederationObservation observation = two_clients();
  observation.took_part[1][0] = kUnknown;  // 3, -1, -2 against 1, -1, -1
  EXPECT_NEAR(eavesdropping_correlation(Values{3, 100, -1, -2}, observation, 0), 0.866025, 1e-6);
  for (auto& round : observation.took_part) round[0] = kUnknown;
  EXPECT_EQ(eavesdropping_correlation(Values{3, 2, -1, -2}, observation, 0), 0);
}

TEST(RecordCorrelation, CurvesEndWhereTheWholeCorrelationIs) {
  const Values changes = {3, 2, -1, -2};
  const Matrix<double> curves = eavesdropping_curves(changes, two_clients());
  EXPECT_EQ(curves.rows, 4);
  EXPECT_EQ(curves.cols, 2);
  EXPECT_EQ(curves(1, 0), 0);                 // it always took part so far
  EXPECT_NEAR(curves(2, 0), 0.866025, 1e-6);  // 3, 2, -1 against 1, 1, -1
  EXPECT_NEAR(curves(3, 1), -0.894427, 1e-6);
  const std::vector<Values> watermarks = {{9, 8, 1, 2}, {1, 2, 3, 4}};
  const Matrix<double> marks = watermark_curves(changes, watermarks);
  EXPECT_NEAR(marks(3, 0), 0.8, 1e-12);
  EXPECT_NEAR(marks(1, 1), -1, 1e-12);
}

TEST(ObservedRounds, ArePartsOfTheWhole) {
  FederationObservation observation = two_clients();
  std::int64_t asked = -1;
  observation.model = [&](std::int64_t round) {
    asked = round;
    return std::shared_ptr<const LanguageModel>();
  };
  const FederationObservation part = rounds_of(observation, 1, 3);
  EXPECT_EQ(part.rounds, 2);
  EXPECT_EQ(part.took_part, (std::vector<std::vector<TookPart>>{{kYes, kNo}, {kNo, kYes}}));
  part.model(0);
  EXPECT_EQ(asked, 1);
}

TEST(ObservedRounds, DealOutTheSamePartsAnew) {
  FederationObservation observation = two_clients();
  observation.took_part.resize(40, {kNo, kYes});
  const auto again = permuted(observation, Seed(1)).took_part;
  EXPECT_NE(again, observation.took_part);
  EXPECT_EQ(std::ranges::count(again, std::vector<TookPart>{kYes, kNo}), 2);
  EXPECT_EQ(permuted(observation, Seed(1)).took_part, again);
}

TEST(ObservedRounds, ForgetAShareOfTheParts) {
  FederationObservation observation = two_clients();
  observation.took_part.resize(1000, {kNo, kYes});
  std::int64_t unknown = 0;
  for (const auto& round : with_unknown(observation, 0.3, Seed(1)).took_part)
    unknown += std::ranges::count(round, kUnknown);
  EXPECT_NEAR(static_cast<double>(unknown), 600, 100);
}

}  // namespace
}  // namespace undertext
