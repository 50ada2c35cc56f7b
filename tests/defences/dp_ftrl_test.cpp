#include "defences/dp_ftrl.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "defences/accounting/renyi.h"
#include "federated/federation_run.h"
#include "federated/small_federation.h"

namespace undertext {
namespace {

const Selection kInTurn{.rule = SelectionRule::in_turn, .per_round = 3};

TEST(DpFtrl, ANewTreeBeginsWhereAClientComesAgain) {
  // Ten clients, three at a time: four rounds for all.
  EXPECT_EQ(tree_plan(kInTurn, 10, 9).leaves, (std::vector<std::int64_t>{4, 4, 1}));
  const Selection scheduled{.rule = SelectionRule::scheduled,
                            .schedule = {{0}, {}, {1, 2}, {3}, {2}, {2}, {0, 1}}};
  const TreePlan plan = tree_plan(scheduled, 4, 7);
  EXPECT_EQ(plan.leaves, (std::vector<std::int64_t>{4, 1, 2}));
  EXPECT_EQ(plan.place_of(4).tree, 0);
  EXPECT_EQ(plan.place_of(4).leaf, 4);
  EXPECT_EQ(plan.place_of(5).tree, 1);
  EXPECT_EQ(plan.place_of(7).tree, 2);
  EXPECT_EQ(plan.place_of(7).leaf, 2);
  // More rounds leave the places of the others as they are.
  EXPECT_EQ(tree_plan(scheduled, 4, 3).place_of(3).leaf, plan.place_of(3).leaf);
}

TEST(DpFtrl, RefusesClientsThatAreDrawnAtRandom) {
  for (const SelectionRule rule : {SelectionRule::uniform, SelectionRule::by_size, SelectionRule::poisson})
    try {
      tree_plan({.rule = rule, .per_round = 2}, 4, 3);
      FAIL() << name_of(rule);
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(name_of(rule)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("twice in a tree"), std::string::npos);
    }
}

// Without noise: the global model and the clipped updates, as DP-FedAvg's.
TEST(DpFtrl, AddsCutUpdates) {
  DpFtrl average({.clip = 5, .sigma = 0, .clients = 2}, {{4}}, 1, Seed(1));
  average.start({{"w", at::tensor({1.0f, 1.0f})}});
  average.add({{"w", at::tensor({4.0f, 5.0f})}}, 1);    // (3, 4)
  average.add({{"w", at::tensor({1.0f, 101.0f})}}, 9);  // (0, 100), cut to (0, 5)
  EXPECT_TRUE(at::equal(average.mean().at("w"), at::tensor({2.5f, 5.5f})));
}

// Rounds of nobody: what the model gathers is the tree's noise alone, and a second tree adds to the first.
TEST(DpFtrl, TheModelHoldsTheNoiseOfItsPrefix) {
  const TreePlan plan{{6, 6}};
  NamedTensors model = {{"w", at::zeros({40'000})}};
  for (std::int64_t round = 1; round <= 12; ++round) {
    DpFtrl average({.clip = 2, .sigma = 3, .clients = 4}, plan, round, Seed(8));
    average.start(model);
    model = average.mean();
    const auto nodes = [](std::int64_t leaves) { return std::popcount(static_cast<std::uint64_t>(leaves)); };
    const double expected = 1.5 * 1.5 * (round <= 6 ? nodes(round) : nodes(6) + nodes(round - 6));
    EXPECT_NEAR(model.at("w").var().item<double>(), expected, 0.04 * expected) << round;
  }
}

TEST(DpFtrl, IsAccountedForByItsTrees) {
  const TreePlan plan{{16, 16}};
  std::vector<double> divergences;
  for (const double order : renyi_orders()) divergences.push_back(renyi_of_tree(4, 16, 2, order));
  EXPECT_NEAR(renyi_epsilon(dp_ftrl_steps(4, plan), 1e-5),
              epsilon_from_renyi(renyi_orders(), divergences, 1e-5).epsilon, 1e-12);
  // Two trees of five nodes above each leaf: a Gaussian mechanism of mu^2 = 10 / 16.
  const Composition steps = dp_ftrl_steps(4, plan);
  EXPECT_EQ(steps.front().steps + steps.back().steps, 10);
}

TEST(DpFtrl, RefusesWhatMakesNoSense) {
  const TreePlan plan{{4}};
  EXPECT_THROW(DpFtrl({.clip = -1}, plan, 1, Seed(1)), UserError);
  EXPECT_THROW(DpFtrl({.sigma = NAN}, plan, 1, Seed(1)), UserError);
  EXPECT_THROW(DpFtrl({.clients = 0}, plan, 1, Seed(1)), UserError);
}

TEST(DpFtrl, AFederationGoesOnWithTheSameBytes) {
  const TemporaryFolder folder;
  const auto run = [&](std::int64_t rounds, const std::string& name) {
    FederationOptions options = small_options(rounds);
    options.selection = kInTurn;
    FederationParties parties = small_parties();
    const TreePlan plan = tree_plan(options.selection, std::ssize(parties.clients), rounds);
    parties.averaging = [&](std::int64_t round) {
      return std::make_unique<DpFtrl>(DpFtrlOptions{.clip = .1, .sigma = .5, .clients = 3}, plan, round,
                                      Seed(5));
    };
    const auto trainers = thread_trainers(parties, options);
    return hash_of(
        run_federation(parties, options, *thirty_words(), "dp-ftrl", *trainers, place_at(folder / name))
            .progress.model->parameters());
  };
  const std::string whole = run(7, "whole");
  run(3, "parts");
  EXPECT_EQ(run(7, "parts"), whole);
  set_threads(1);
  EXPECT_EQ(run(7, "one"), whole);
  set_threads(0);
}

}  // namespace
}  // namespace undertext
