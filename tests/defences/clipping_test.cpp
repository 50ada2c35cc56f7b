#include "defences/clipping.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "defences/noise.h"
#include "federated/clients.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

const LocalTraining kGradient{.reduction = Reduction::mean, .kind = UpdateKind::gradient};

double norm_of(const NamedTensors& tensors) {
  double squares = 0;
  for (const auto& [name, tensor] : tensors) squares += tensor.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(squares);
}

TEST(Clipping, ScalesTheWholeGradientByOneFactor) {
  NamedTensors gradient{{"a", torch::tensor({3.0f, 0.0f})}, {"b", torch::tensor({{-4.0f}})}};
  Clipping(1).on_gradient(gradient, 0);
  EXPECT_TRUE(torch::allclose(gradient.at("a"), torch::tensor({0.6f, 0.0f})));
  EXPECT_TRUE(torch::allclose(gradient.at("b"), torch::tensor({{-0.8f}})));
}

TEST(Clipping, LeavesASmallGradientAsItIs) {
  const at::Tensor values = torch::tensor({3.0f, -4.0f});
  NamedTensors gradient{{"a", values.clone()}, {"b", torch::zeros({2})}};
  Clipping(5).on_gradient(gradient, 0);
  EXPECT_TRUE(torch::equal(gradient.at("a"), values));
}

TEST(Clipping, HoldsForWhatAClientSends) {
  const Update plain = train_locally(*tiny_model(), kTexts, kGradient, std::string(64, 'a'));
  const double norm = norm_of(plain.tensors);
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {std::make_shared<Clipping>(norm / 3)};
  const Update clipped = train_locally(*tiny_model(), kTexts, kGradient, std::string(64, 'a'), defences);
  EXPECT_NEAR(norm_of(clipped.tensors), norm / 3, 1e-6 * norm);
  for (const auto& [name, tensor] : plain.tensors)
    EXPECT_TRUE(torch::allclose(clipped.tensors.at(name), tensor / 3, 1e-5, 1e-9)) << name;
}

// What clipping has left is what the noise is added to.
TEST(Clipping, ComesBeforeTheNoise) {
  const std::vector<std::shared_ptr<const ClientDefence>> both = {
      std::make_shared<Clipping>(1e-6), std::make_shared<NoiseOnResult>(1, Seed(5), NoiseKind::laplace)};
  Update update = train_locally(*tiny_model(), kTexts, kGradient, std::string(64, 'a'), both);
  NamedTensors noise;
  for (const auto& [name, tensor] : update.tensors) noise[name] = torch::zeros_like(tensor);
  NoiseOnResult(1, Seed(5), NoiseKind::laplace).on_result(noise);
  for (const auto& [name, tensor] : update.tensors)
    EXPECT_TRUE(torch::allclose(tensor, noise.at(name), 1e-5, 2e-6)) << name;
}

TEST(Clipping, IsTheSameWhateverTheThreads) {
  at::Tensor values = torch::zeros({300'000});
  add_normal_noise(Seed(1), 1, values.data_ptr<float>(), values.numel());
  std::string hashes[2];
  for (const int count : {1, 2}) {
    set_threads(count);
    NamedTensors gradient{{"a", values.clone()}};
    Clipping(0.3).on_gradient(gradient, 0);
    hashes[count - 1] = hash_of(gradient);
  }
  set_threads(0);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(Clipping, RefusesANormThatIsNone) {
  for (const double norm : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(Clipping{norm}, UserError);
  NamedTensors broken{{"a", torch::tensor({1.0f, std::numeric_limits<float>::infinity()})}};
  EXPECT_THROW(Clipping(1).on_gradient(broken, 0), UserError);
}

}  // namespace
}  // namespace undertext
