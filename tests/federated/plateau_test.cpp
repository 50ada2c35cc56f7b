#include "federated/plateau.h"

#include <gtest/gtest.h>

#include <vector>

namespace undertext {
namespace {

TEST(Plateau, TheRateFallsAfterSoManyRoundsWithoutALowerLoss) {
  const Plateau plateau{.rounds = 2};
  const std::vector<double> losses = {5, 4, 4.5, 4, 3, 3.5, 3.2, 3.1, 3.0, 2.9};
  // Equal is not lower. The best stays the best when the rate has fallen, and the count begins anew.
  const std::vector<double> rates = {1, 1, 1, .1, .1, .1, .01, .01, .001, .001};
  for (std::size_t rounds = 0; rounds < losses.size(); ++rounds)
    EXPECT_DOUBLE_EQ(rate_after(std::span(losses).first(rounds + 1), 1, plateau), rates[rounds]) << rounds;
  EXPECT_EQ(rate_after(losses, 1, {.rounds = 0}), 1);
  EXPECT_EQ(rate_after({}, 0.5, plateau), 0.5);
}

TEST(Plateau, PatienceEndsAFederation) {
  const std::vector<double> losses = {5, 4, 4.5, 4.2, 3, 3.5, 3.2, 3.1};
  EXPECT_FALSE(ends_after(losses, {.patience = 0}));
  EXPECT_FALSE(ends_after(std::span(losses).first(7), {.patience = 3}));
  EXPECT_TRUE(ends_after(losses, {.patience = 3}));
  EXPECT_TRUE(ends_after(losses, {.patience = 2}));
  EXPECT_FALSE(ends_after(std::span(losses).first(3), {.patience = 2}));
  EXPECT_TRUE(ends_after(std::span(losses).first(4), {.patience = 2}));
}

}  // namespace
}  // namespace undertext
