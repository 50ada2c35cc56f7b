#include "federated/fed_avg.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace undertext {
namespace {

NamedTensors weights(float a, float b) {
  return {{"w", torch::tensor({a, b})}, {"bias", torch::tensor({a - b})}};
}

// record-level, eq. 1.
TEST(FedAvg, CountsEveryClientByItsData) {
  FedAvg average;
  average.add(weights(1, 2), 3);
  average.add(weights(5, -2), 1);
  const NamedTensors mean = average.mean();
  ASSERT_EQ(mean.size(), 2u);
  EXPECT_TRUE(torch::equal(mean.at("w"), torch::tensor({2.0f, 1.0f})));  // (3 * 1 + 5) / 4, (3 * 2 - 2) / 4
  EXPECT_TRUE(torch::equal(mean.at("bias"), torch::tensor({1.0f})));     // (-3 + 7) / 4
}

TEST(FedAvg, OneClientIsItself) {
  FedAvg average;
  average.add(weights(0.1f, 0.7f), 30'001);
  EXPECT_TRUE(torch::equal(average.mean().at("w"), torch::tensor({0.1f, 0.7f})));
  EXPECT_TRUE(FedAvg().mean().empty());
}

// Sums in float32 would lose the small one.
TEST(FedAvg, AddsInDouble) {
  FedAvg average;
  average.add(weights(1e8f, 0), 1);
  average.add(weights(1, 0), 1);
  average.add(weights(-1e8f, 0), 1);
  EXPECT_FLOAT_EQ(average.mean().at("w")[0].item<float>(), 1.0f / 3);
}

}  // namespace
}  // namespace undertext
