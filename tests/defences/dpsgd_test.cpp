#include "defences/dpsgd.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "defences/accountant.h"
#include "federated/clients.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

const LocalTraining kGradient{.reduction = Reduction::mean, .kind = UpdateKind::gradient};

Update sent(double clip, double sigma, std::uint64_t seed = 1) {
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {
      std::make_shared<DpSgd>(clip, sigma, Seed(seed))};
  return train_locally(*tiny_model(), kTexts, kGradient, std::string(64, 'a'), defences);
}

double norm_of(const NamedTensors& tensors) {
  double squares = 0;
  for (const auto& [name, tensor] : tensors) squares += tensor.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(squares);
}

// One sentence more or less changes the sum by the bound at most, whatever the sentence.
TEST(DpSgd, BoundsTheInfluenceOfASentence) {
  EXPECT_LE(norm_of(sent(0.01, 0).tensors), 0.01 * (1 + 1e-5));
  EXPECT_GT(norm_of(sent(0.01, 0).tensors), 0.001);
  LocalTraining sum = kGradient;
  sum.reduction = Reduction::sum;
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {
      std::make_shared<DpSgd>(0.01, 0.0, Seed(1))};
  std::vector<Sentence> fewer = kTexts;
  fewer.pop_back();
  const Update all = train_locally(*tiny_model(), kTexts, sum, std::string(64, 'a'), defences),
               most = train_locally(*tiny_model(), fewer, sum, std::string(64, 'a'), defences);
  NamedTensors difference;
  for (const auto& [name, tensor] : all.tensors) difference[name] = tensor - most.tensors.at(name);
  EXPECT_NEAR(norm_of(difference), 0.01, 1e-5);
}

// Five sentences: the mean carries a fifth of the sum's noise.
TEST(DpSgd, AddsItsNoiseToTheSum) {
  const Update noisy = sent(0.01, 50), plain = sent(0.01, 0);
  double squares = 0, count = 0;
  for (const auto& [name, tensor] : noisy.tensors) {
    squares += (tensor - plain.tensors.at(name)).to(at::kDouble).square().sum().item<double>();
    count += static_cast<double>(tensor.numel());
  }
  EXPECT_NEAR(std::sqrt(squares / count), 50 * 0.01 / 5, 0.01);
}

TEST(DpSgd, DrawsNewNoiseInEveryStepAndTheSameForTheSameSeed) {
  NamedTensors first = {{"a", torch::zeros({4})}}, second = {{"a", torch::zeros({4})}},
               again = {{"a", torch::zeros({4})}};
  const DpSgd defence(1, 1, Seed(2));
  defence.on_sum(first, 0);
  defence.on_sum(second, 1);
  defence.on_sum(again, 0);
  EXPECT_TRUE(torch::equal(first.at("a"), again.at("a")));
  EXPECT_FALSE(torch::equal(first.at("a"), second.at("a")));
}

TEST(DpSgd, RefusesWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(DpSgd(0, 1, Seed(1)), UserError);
  EXPECT_THROW(DpSgd(nan, 1, Seed(1)), UserError);
  EXPECT_THROW(DpSgd(1, -1, Seed(1)), UserError);
  EXPECT_THROW(DpSgd(1, nan, Seed(1)), UserError);
}

TEST(Accountant, OfOneStepWithoutSampling) {
  // Renyi divergence order / (2 sigma^2): the least of a / (2 * 16) + log(1e5) / (a - 1) over a, near a
  // = 20.2.
  EXPECT_NEAR(epsilon_of({.sigma = 4, .share = 1, .steps = 1}), 20.0 / 32 + std::log(1e5) / 19, 1e-9);
}

// 60 epochs over 60,000 examples in batches of 256 with noise of 1.12, an example that is often told: 2.92.
TEST(Accountant, OfATrainingThatIsOftenTold) {
  const double epsilon =
      epsilon_of({.sigma = 1.12, .share = 256.0 / 60000, .steps = 60 * 60000 / 256, .delta = 1e-5});
  EXPECT_NEAR(epsilon, 2.92, 0.03);
}

TEST(Accountant, FallsWithNoiseAndGrowsWithSteps) {
  double last = std::numeric_limits<double>::infinity();
  EXPECT_EQ(epsilon_of({.sigma = 0}), last);
  for (const double sigma : {0.3, 0.5, 1.0, 2.0, 8.0}) {
    const double epsilon = epsilon_of({.sigma = sigma, .share = 0.01, .steps = 1000});
    EXPECT_LT(epsilon, last);
    EXPECT_LT(epsilon, epsilon_of({.sigma = sigma, .share = 0.01, .steps = 2000}));
    last = epsilon;
  }
}

}  // namespace
}  // namespace undertext
