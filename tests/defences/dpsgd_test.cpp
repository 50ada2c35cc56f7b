#include "defences/dpsgd.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "base/error.h"
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

}  // namespace
}  // namespace undertext
