#include "defences/secure_aggregation/secure_averaging.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace undertext {
namespace {

NamedTensors weights(float first, float second) {
  NamedTensors tensors;
  tensors["a"] = at::tensor({first, second});
  tensors["b"] = at::full({2, 2}, first * second);
  return tensors;
}

TEST(SecureAveraging, GivesFedAvgsMean) {
  FedAvg plain;
  SecureAveraging secure(Seed(4));
  std::int64_t size = 100;
  for (const auto& [first, second] : {std::pair{.5f, -2.f}, {.25f, 3.f}, {-1.f, .001f}}) {
    plain.add(weights(first, second), size);
    secure.add(weights(first, second), size);
    size *= 3;
  }
  const NamedTensors expected = plain.mean(), given = secure.mean();
  ASSERT_EQ(given.size(), expected.size());
  for (const auto& [name, tensor] : expected)
    EXPECT_TRUE(at::allclose(given.at(name), tensor, 1e-5, 1e-6)) << name;
}

TEST(SecureAveraging, RefusesASingleClient) {
  SecureAveraging secure(Seed(4));
  secure.add(weights(1, 2), 10);
  EXPECT_THROW(secure.mean(), UserError);
  EXPECT_TRUE(SecureAveraging(Seed(5)).mean().empty());
}

}  // namespace
}  // namespace undertext
