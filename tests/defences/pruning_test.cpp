#include "defences/pruning.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "base/error.h"
#include "federated/clients.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

NamedTensors example() {
  return {{"a", torch::tensor({1.0f, -2.0f, 3.0f, -4.0f})}, {"b", torch::tensor({{10.0f, -20.0f}})}};
}

TEST(Pruning, OfEachTensor) {
  NamedTensors gradient = example();
  Pruning(0.5).on_gradient(gradient, 0);
  EXPECT_TRUE(torch::equal(gradient.at("a"), torch::tensor({0.0f, 0.0f, 3.0f, -4.0f})));
  EXPECT_TRUE(torch::equal(gradient.at("b"), torch::tensor({{0.0f, -20.0f}})));
}

TEST(Pruning, OfAllTensorsTogether) {
  NamedTensors gradient = example();
  Pruning(0.5, PruningScope::all).on_gradient(gradient, 0);
  EXPECT_TRUE(torch::equal(gradient.at("a"), torch::tensor({0.0f, 0.0f, 0.0f, -4.0f})));
  EXPECT_TRUE(torch::equal(gradient.at("b"), torch::tensor({{10.0f, -20.0f}})));
}

TEST(Pruning, KeepsWhatIsAsLargeAsTheSmallestKept) {
  NamedTensors gradient = {{"a", torch::tensor({1.0f, 1.0f, 1.0f, 0.0f})}};
  Pruning(0.5).on_gradient(gradient, 0);
  EXPECT_TRUE(torch::equal(gradient.at("a"), torch::tensor({1.0f, 1.0f, 1.0f, 0.0f})));
  NamedTensors one = {{"a", torch::tensor({5.0f})}, {"none", torch::zeros({0})}};
  Pruning(0.999).on_gradient(one, 0);  // the largest always stays
  EXPECT_EQ(one.at("a").item<float>(), 5);
}

TEST(Pruning, NothingChangesNothing) {
  NamedTensors gradient = example();
  Pruning(0).on_gradient(gradient, 0);
  EXPECT_TRUE(torch::equal(gradient.at("a"), example().at("a")));
}

TEST(Pruning, HoldsForWhatAClientSends) {
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {std::make_shared<Pruning>(0.9)};
  const LocalTraining gradient{.reduction = Reduction::mean, .kind = UpdateKind::gradient};
  const Update update = train_locally(*tiny_model(), kTexts, gradient, std::string(64, 'a'), defences);
  for (const auto& [name, tensor] : update.tensors)
    EXPECT_LE(torch::count_nonzero(tensor).item<std::int64_t>(), tensor.numel() / 10 + 1) << name;
}

TEST(Pruning, RefusesWhatIsNoShare) {
  for (const double share : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(Pruning{share}, UserError);
  NamedTensors gradient = {{"a", torch::tensor({std::numeric_limits<float>::infinity(), 1.0f})}};
  EXPECT_THROW(Pruning(0.5).on_gradient(gradient, 0), UserError);
}

}  // namespace
}  // namespace undertext
