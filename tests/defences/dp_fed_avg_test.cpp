#include "defences/dp_fed_avg.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "defences/accounting/accountant.h"
#include "federated/federation_run.h"
#include "federated/small_federation.h"

namespace undertext {
namespace {

NamedTensors weights(float a, float b, float c) {
  return {{"w", at::tensor({a, b})}, {"bias", at::tensor({c})}};
}

double norm_between(const NamedTensors& one, const NamedTensors& other) {
  double squares = 0;
  for (const auto& [name, tensor] : one)
    squares += (tensor.to(at::kDouble) - other.at(name).to(at::kDouble)).square().sum().item<double>();
  return std::sqrt(squares);
}

// Updates (3, 4, 0), as long as may be, and (0, 0, 20), cut to (0, 0, 5); half of their sum is added.
TEST(DpFedAvg, CutsEveryUpdateAndCountsAllTheSame) {
  DpFedAvg average({.clip = 5, .sigma = 0, .clients = 2}, 1, Seed(1));
  average.start(weights(1, 1, 7));
  average.add(weights(4, 5, 7), 1);
  average.add(weights(1, 1, 27), 1'000'000);
  const NamedTensors mean = average.mean();
  EXPECT_TRUE(at::equal(mean.at("w"), at::tensor({2.5f, 3.0f})));
  EXPECT_TRUE(at::equal(mean.at("bias"), at::tensor({9.5f})));
}

// Whatever a client sends, it moves the sum by the norm at most.
TEST(DpFedAvg, OneClientMovesTheModelByTheNormAtMost) {
  Random random(Seed(4));
  for (int trial = 0; trial < 50; ++trial) {
    const auto number = [&] { return static_cast<float>(std::exp(8 * random.normal()) * random.normal()); };
    const NamedTensors global = weights(1, 2, 3), other = weights(2, 2, 2);
    const NamedTensors own = weights(number(), number(), number());
    NamedTensors means[2];
    for (const bool there : {false, true}) {
      DpFedAvg average({.clip = 0.5, .sigma = 1, .clients = 4}, 9, Seed(1));
      average.start(global);
      average.add(other, 1);
      if (there) average.add(own, 1);
      means[there] = average.mean();
    }
    EXPECT_LE(norm_between(means[0], means[1]), 0.5 / 4 + 1e-6);
  }
}

TEST(DpFedAvg, AddsNoiseOfTheRightSizeAlsoToARoundOfNobody) {
  const NamedTensors global = {{"a", at::ones({200, 100})}, {"b", at::zeros({20'000})}};
  const auto round = [&](std::int64_t number, std::uint64_t seed) {
    DpFedAvg average({.clip = 0.3, .sigma = 2, .clients = 10}, number, Seed(seed));
    average.start(global);
    return average.mean();
  };
  const NamedTensors noisy = round(3, 1);
  for (const auto& [name, tensor] : noisy) {
    const at::Tensor noise = tensor.to(at::kDouble) - global.at(name).to(at::kDouble);
    EXPECT_NEAR(noise.std().item<double>(), 2 * 0.3 / 10, 0.0015) << name;
    EXPECT_NEAR(noise.mean().item<double>(), 0, 0.0025) << name;
  }
  EXPECT_EQ(norm_between(noisy, round(3, 1)), 0);
  EXPECT_GT(norm_between(noisy, round(4, 1)), 1);
  EXPECT_GT(norm_between(noisy, round(3, 2)), 1);
}

TEST(DpFedAvg, IsAccountedForByItsSampling) {
  const Selection poisson{.rule = SelectionRule::poisson, .per_round = 10};
  const NoisySteps steps = dp_fed_avg_steps(1.1, poisson, 1000, 500);
  const NoisySteps expected{1.1, .01, 500};
  EXPECT_EQ(epsilon_of({&steps, 1}, 1e-5), epsilon_of({&expected, 1}, 1e-5));
  EXPECT_EQ(dp_fed_avg_steps(1.1, {.per_round = 8}, 8, 20).rate, 1);
  EXPECT_THROW(dp_fed_avg_steps(1.1, {.per_round = 4}, 8, 20), UserError);
  EXPECT_THROW(dp_fed_avg_steps(1.1, {.rule = SelectionRule::by_size, .per_round = 4}, 8, 20), UserError);
}

TEST(DpFedAvg, RefusesWhatMakesNoSense) {
  EXPECT_THROW(DpFedAvg({.clip = 0}, 1, Seed(1)), UserError);
  EXPECT_THROW(DpFedAvg({.clip = INFINITY}, 1, Seed(1)), UserError);
  EXPECT_THROW(DpFedAvg({.sigma = -1}, 1, Seed(1)), UserError);
  EXPECT_THROW(DpFedAvg({.sigma = NAN}, 1, Seed(1)), UserError);
  EXPECT_THROW(DpFedAvg({.clients = 0}, 1, Seed(1)), UserError);
  DpFedAvg average({}, 1, Seed(1));
  average.start(weights(1, 1, 1));
  EXPECT_THROW(average.add(weights(NAN, 1, 1), 1), UserError);
}

class DpFedAvgFederation : public ::testing::Test {
 protected:
  DpFedAvgFederation() {
    parties_.averaging = [](std::int64_t round) {
      return std::make_unique<DpFedAvg>(DpFedAvgOptions{.clip = .1, .sigma = .5, .clients = 1}, round,
                                        Seed(5));
    };
  }
  FederationOptions options(std::int64_t rounds) const {
    FederationOptions options = small_options(rounds);
    options.selection = {.rule = SelectionRule::poisson, .per_round = 1};
    return options;
  }
  FederationProgress run(std::int64_t rounds, const std::filesystem::path& folder) const {
    const FederationOptions all = options(rounds);
    const auto trainers = thread_trainers(parties_, all);
    return run_federation(parties_, all, *thirty_words(), "dp", *trainers, place_at(folder)).progress;
  }
  FederationParties parties_ = small_parties();
};

TEST_F(DpFedAvgFederation, GoesOnWithTheSameBytes) {
  const TemporaryFolder folder;
  const std::string whole = hash_of(run(8, folder / "whole").model->parameters());
  run(3, folder / "parts");
  EXPECT_EQ(hash_of(run(8, folder / "parts").model->parameters()), whole);
  set_threads(1);
  EXPECT_EQ(hash_of(run(8, folder / "one").model->parameters()), whole);
  set_threads(0);
}

TEST_F(DpFedAvgFederation, NobodysRoundsChangeTheModelByNoiseAlone) {
  const FederationOptions all = options(12);
  const auto trainers = thread_trainers(parties_, all);
  const SimulatedFederation made = simulate_federation(parties_, all, thirty_words(), *trainers);
  std::set<std::size_t> numbers;
  for (std::int64_t round = 1; round <= 12; ++round) {
    const auto& answered = made.summary.progress.rounds[static_cast<std::size_t>(round - 1)].answered;
    numbers.insert(answered.size());
    const NamedTensors& before = made.observation.model(round - 1)->parameters();
    const NamedTensors& after = made.observation.model(round)->parameters();
    double numel = 0;
    for (const auto& [name, tensor] : before) numel += static_cast<double>(tensor.numel());
    EXPECT_GT(norm_between(before, after), .7 * .05 * std::sqrt(numel));
    if (answered.empty()) {
      EXPECT_LT(norm_between(before, after), 1.3 * .05 * std::sqrt(numel));
    }
  }
  EXPECT_TRUE(numbers.contains(0));
  EXPECT_GT(numbers.size(), 2u);
}

}  // namespace
}  // namespace undertext
