#include "defences/noise.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "federated/clients.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

const std::string kHash(64, 'a');

Update train(const LocalTraining& training, std::vector<std::shared_ptr<const ClientDefence>> defences) {
  return train_locally(*tiny_model(), kTexts, training, kHash, defences);
}

TEST(Noise, HasTheStandardDeviationThatIsAskedFor) {
  constexpr std::int64_t n = 200'000;
  for (const double sigma : {1e-4, 1.0}) {
    NamedTensors tensors{{"a", torch::zeros({n})}, {"b", torch::zeros({n})}};
    NoiseOnResult(sigma, Seed(3)).on_result(tensors);
    const at::Tensor a = tensors["a"] / sigma, b = tensors["b"] / sigma;
    EXPECT_NEAR(a.mean().item<double>(), 0, 5 / std::sqrt(n));
    EXPECT_NEAR(a.square().mean().item<double>(), 1, 5 * std::sqrt(2.0 / n));
    EXPECT_NEAR(a.pow(4).mean().item<double>(), 3, 5 * std::sqrt(96.0 / n));
    EXPECT_NEAR((a * b).mean().item<double>(), 0, 5 / std::sqrt(n)) << "tensors must not share their noise";
  }
}

// Of the Laplace distribution with scale b: mean 0, E|z| = b, E z^2 = 2 b^2, E z^4 = 24 b^4.
TEST(Noise, CanBeLaplacian) {
  constexpr std::int64_t n = 400'000;
  for (const double b : {1e-4, 1.0}) {
    NamedTensors tensors{{"a", torch::zeros({n})}, {"b", torch::zeros({n})}};
    NoiseOnResult(b, Seed(3), NoiseKind::laplace).on_result(tensors);
    const at::Tensor z = tensors["a"].to(torch::kDouble) / b, other = tensors["b"].to(torch::kDouble) / b;
    EXPECT_NEAR(z.mean().item<double>(), 0, 5 * std::sqrt(2.0 / n));
    EXPECT_NEAR(z.abs().mean().item<double>(), 1, 5 / std::sqrt(n));
    EXPECT_NEAR(z.square().mean().item<double>(), 2, 5 * std::sqrt(20.0 / n));
    EXPECT_NEAR(z.pow(4).mean().item<double>(), 24, 5 * std::sqrt((40320.0 - 576) / n));
    EXPECT_NEAR((z * other).mean().item<double>(), 0, 5 * 2 / std::sqrt(n));
    // Neither half of a draw repeats the other.
    EXPECT_NEAR((z.slice(0, 0, 128) * z.slice(0, 128, 256)).mean().item<double>(), 0, 5 * 2 / std::sqrt(128));
    EXPECT_GT(z.abs().max().item<double>(), 9) << "of 400,000 the largest is about 13";
  }
}

TEST(Noise, OfTheTwoKindsAreDrawnApart) {
  NamedTensors gaussian{{"a", torch::zeros({1000})}}, laplace{{"a", torch::zeros({1000})}};
  NoisePerStep(1, Seed(3)).on_gradient(gaussian, 0);
  NoisePerStep(1, Seed(3), NoiseKind::laplace).on_gradient(laplace, 0);
  EXPECT_NEAR((gaussian.at("a") * laplace.at("a")).mean().item<double>(), 0, 5 * std::sqrt(2.0 / 1000));
}

TEST(Noise, OfAStepDependsOnStepNameAndSeedAlone) {
  const auto draw = [](std::uint64_t seed, std::int64_t step, NamedTensors tensors) {
    NoisePerStep(1, Seed(seed)).on_gradient(tensors, step);
    return tensors;
  };
  const NamedTensors alone = draw(1, 4, {{"b", torch::zeros({50})}});
  const NamedTensors both = draw(1, 4, {{"a", torch::zeros({7})}, {"b", torch::zeros({50})}});
  EXPECT_TRUE(torch::equal(alone.at("b"), both.at("b")));
  EXPECT_FALSE(torch::allclose(alone.at("b"), draw(1, 5, {{"b", torch::zeros({50})}}).at("b")));
  EXPECT_FALSE(torch::allclose(alone.at("b"), draw(2, 4, {{"b", torch::zeros({50})}}).at("b")));
}

TEST(Noise, PerStepIsMultipliedByTheLearningRate) {
  const LocalTraining training{.learning_rate = 0.01};
  const Update plain = train(training, {}),
               noisy = train(training, {std::make_shared<NoisePerStep>(2, Seed(1))});
  for (const auto& [name, weight] : plain.tensors) {
    NamedTensors noise{{name, torch::zeros_like(weight)}};
    NoisePerStep(2, Seed(1)).on_gradient(noise, 0);
    EXPECT_TRUE(torch::allclose(noisy.tensors.at(name), weight - 0.01 * noise.at(name), 1e-4, 1e-6)) << name;
  }
}

TEST(Noise, OnTheResultIsAddedOnceAndAsItIs) {
  const LocalTraining training{.epochs = 3, .batch = 2, .learning_rate = 0.01};
  const Update plain = train(training, {}),
               noisy = train(training, {std::make_shared<NoiseOnResult>(0.5, Seed(1))});
  for (const auto& [name, weight] : plain.tensors) {
    NamedTensors noise{{name, torch::zeros_like(weight)}};
    NoiseOnResult(0.5, Seed(1)).on_result(noise);
    EXPECT_TRUE(torch::allclose(noisy.tensors.at(name), weight + noise.at(name), 1e-5, 1e-6)) << name;
  }
}

TEST(Noise, IsTheSameForTheSameSeedWhateverTheThreads) {
  std::string hashes[2];
  for (const int count : {1, 2}) {
    set_threads(count);
    hashes[count - 1] = hash_of(
        train({.epochs = 2, .batch = 2}, {std::make_shared<NoisePerStep>(0.1, Seed(7)),
                                          std::make_shared<NoiseOnResult>(0.1, Seed(7), NoiseKind::laplace)})
            .tensors);
  }
  set_threads(0);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(Noise, RefusesADeviationThatIsNone) {
  for (const double sigma : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(NoisePerStep(sigma, Seed(1)), UserError);
    EXPECT_THROW(NoiseOnResult(sigma, Seed(1)), UserError);
  }
  NamedTensors tensors{{"a", torch::ones({3})}};
  NoiseOnResult(0, Seed(1)).on_result(tensors);
  EXPECT_TRUE(torch::equal(tensors.at("a"), torch::ones({3})));
}

}  // namespace
}  // namespace undertext
