#include "federated/selection.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "base/error.h"

namespace undertext {
namespace {

template <typename Body>
std::string complaint(Body body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Selection, UniformTakesEverySetAsOften) {
  const std::vector<std::int64_t> sizes = {1, 1000, 1, 1};
  const Selection selection{.per_round = 2};
  std::map<std::vector<std::int64_t>, int> seen;
  constexpr int kRounds = 6000;
  for (int round = 1; round <= kRounds; ++round) ++seen[select_clients(selection, sizes, round, Seed(3))];
  ASSERT_EQ(seen.size(), 6u);  // pairs of 4
  // 1000 each; five deviations of a binomial are 144.
  for (const auto& [pair, count] : seen) EXPECT_NEAR(count, kRounds / 6, 144);
}

TEST(Selection, BySizeTakesTheLargeOnesMoreOften) {
  const std::vector<std::int64_t> sizes = {1, 2, 7};
  const Selection selection{.rule = SelectionRule::by_size, .per_round = 1};
  std::map<std::int64_t, int> seen;
  constexpr int kRounds = 10'000;
  for (int round = 1; round <= kRounds; ++round)
    ++seen[select_clients(selection, sizes, round, Seed(3)).at(0)];
  EXPECT_NEAR(seen[0], 1000, 150);
  EXPECT_NEAR(seen[1], 2000, 200);
  EXPECT_NEAR(seen[2], 7000, 230);
  // Without replacement: of two the large one is nearly always among them, and never twice.
  const Selection two{.rule = SelectionRule::by_size, .per_round = 2};
  for (int round = 1; round <= 100; ++round)
    EXPECT_EQ(std::ranges::count(select_clients(two, sizes, round, Seed(3)), 2) > 1, false);
}

TEST(Selection, ARoundDoesNotHangOnTheOnesBefore) {
  const std::vector<std::int64_t> sizes(20, 5);
  const Selection selection{.per_round = 5, .drop_out = 0.5};
  const auto late = select_clients(selection, sizes, 40, Seed(1));
  for (int round = 1; round < 40; ++round) select_clients(selection, sizes, round, Seed(1));
  EXPECT_EQ(select_clients(selection, sizes, 40, Seed(1)), late);
  EXPECT_TRUE(std::ranges::is_sorted(late));
  EXPECT_EQ(std::set<std::int64_t>(late.begin(), late.end()).size(), 5u);
  EXPECT_EQ(answering(late, selection, 40, Seed(1)), answering(late, selection, 40, Seed(1)));
}

TEST(Selection, ClientsDropOutAsOftenAsAsked) {
  const std::vector<std::int64_t> asked = {0, 1, 2, 3};
  int answers = 0;
  const Selection selection{.per_round = 4, .drop_out = 0.25};
  for (int round = 1; round <= 2500; ++round) {
    const auto answered = answering(asked, selection, round, Seed(9));
    EXPECT_TRUE(std::ranges::includes(asked, answered));
    answers += static_cast<int>(answered.size());
  }
  EXPECT_NEAR(answers, 7500, 220);  // of 10,000; five deviations
  EXPECT_EQ(answering(asked, {.per_round = 4, .drop_out = 0}, 1, Seed(9)), asked);
  EXPECT_TRUE(answering(asked, {.per_round = 4, .drop_out = 1}, 1, Seed(9)).empty());
}

TEST(Selection, SchedulesAreFollowed) {
  const Selection selection{.rule = SelectionRule::scheduled,
                            .schedule = parse_schedule("[[2, 0], [], [1]]", "s.json")};
  const std::vector<std::int64_t> sizes = {1, 1, 1};
  check_selection(selection, 3, 3);
  EXPECT_EQ(select_clients(selection, sizes, 1, Seed(1)), (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(select_clients(selection, sizes, 2, Seed(1)).empty());
  EXPECT_EQ(select_clients(selection, sizes, 3, Seed(1)), std::vector<std::int64_t>{1});
}

// Each client on its own: a binomial number of them, and every pair as often as chance has it.
TEST(Selection, PoissonDrawsEveryClientOnItsOwn) {
  const std::vector<std::int64_t> sizes = {1, 100, 1, 1};
  const Selection selection{.rule = SelectionRule::poisson, .per_round = 1};
  std::array<int, 5> numbers{};
  int first = 0, both = 0;
  for (int round = 1; round <= 10'000; ++round) {
    const auto chosen = select_clients(selection, sizes, round, Seed(5));
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    ++numbers[chosen.size()];
    first += std::ranges::count(chosen, 0) > 0;
    both += std::ranges::count(chosen, 0) > 0 && std::ranges::count(chosen, 1) > 0;
  }
  EXPECT_NEAR(first, 2500, 220);
  EXPECT_NEAR(both, 625, 125);
  EXPECT_NEAR(numbers[0], 3164, 240);  // (3/4)^4 of 10,000; five deviations
  EXPECT_GT(numbers[3], 300);
}

TEST(Selection, InTurnEverybodyComesOnceBeforeAnybodyComesAgain) {
  const std::vector<std::int64_t> sizes(5, 1);
  const Selection selection{.rule = SelectionRule::in_turn, .per_round = 2};
  const std::vector<std::vector<std::int64_t>> expected = {{0, 1}, {2, 3}, {4}, {0, 1}, {2, 3}, {4}, {0, 1}};
  for (std::size_t round = 0; round < expected.size(); ++round)
    EXPECT_EQ(select_clients(selection, sizes, static_cast<std::int64_t>(round) + 1, Seed(round)),
              expected[round]);
}

TEST(Selection, WhatCannotBeIsToldByName) {
  EXPECT_EQ(complaint([] { check_selection({.per_round = 5}, 4, 1); }),
            "5 clients a round, expected 1 to 4, as many as there are");
  EXPECT_NE(complaint([] { check_selection({.per_round = 0}, 4, 1); }).find("0 clients"), std::string::npos);
  EXPECT_NE(complaint([] { check_selection({.per_round = 1, .drop_out = 1.5}, 4, 1); }).find("drop-out: 1.5"),
            std::string::npos);
  const auto scheduled = [](const char* text, std::int64_t rounds) {
    return complaint([&] {
      check_selection({.rule = SelectionRule::scheduled, .schedule = parse_schedule(text, "s.json")}, 3,
                      rounds);
    });
  };
  EXPECT_EQ(scheduled("[[0], [1]]", 3), "the schedule has 2 rounds, expected 3");
  EXPECT_EQ(scheduled("[[0], [1, 3]]", 2), "the schedule's round 2 names client 3, expected 0 to 2");
  EXPECT_EQ(scheduled("[[0, 0]]", 1), "the schedule's round 1 names client 0 twice");
  EXPECT_EQ(scheduled("[[0]]", 1), "nothing");
  for (const char* text : {"", "{}", "[]", "[1]", "[[-1]]", "[[1.5]]", "[[\"a\"]]", "[[0]", "[[1e99]]",
                           "[[18446744073709551615]]", "null"})
    EXPECT_TRUE(complaint([&] { parse_schedule(text, "s.json"); }).starts_with("s.json: ")) << text;
}

}  // namespace
}  // namespace undertext
