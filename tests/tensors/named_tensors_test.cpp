#include "tensors/named_tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace undertext {
namespace {

std::string finite_error(const NamedTensors& tensors) {
  try {
    check_finite(tensors, "some/file");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class CheckFinite : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, CheckFinite,
                         ::testing::Values(at::kDouble, at::kFloat, at::kHalf, at::kBFloat16),
                         [](const auto& test) { return std::string(c10::toString(test.param)); });

TEST_P(CheckFinite, NamesTheFirstBadElement) {
  at::Tensor w = at::ones({3, 5}, GetParam());
  EXPECT_EQ(finite_error({{"v", w}, {"w", w}}), "");
  w[2][1] = kNan;
  w[2][3] = kInfinity;
  EXPECT_EQ(finite_error({{"w", w}}),
            "some/file: tensor \"w\" holds NaN at element 11, expected finite numbers");
  w[1][0] = -kInfinity;
  EXPECT_EQ(finite_error({{"w", w}}),
            "some/file: tensor \"w\" holds infinity at element 5, expected finite numbers");
}

TEST_P(CheckFinite, LooksEverywhereInALargeTensor) {
  constexpr std::int64_t kSize = 1'000'003;
  at::Tensor w = at::zeros({kSize}, GetParam());
  EXPECT_EQ(finite_error({{"w", w}}), "");
  for (const std::int64_t place :
       {kSize - 1, std::int64_t{262'144}, std::int64_t{262'143}, std::int64_t{0}}) {
    w[place] = kNan;  // from the back: the first is always the newest
    EXPECT_NE(finite_error({{"w", w}}).find("at element " + std::to_string(place) + ","), std::string::npos);
  }
}

TEST_P(CheckFinite, TheLargestAndSmallestNumbersAreFinite) {
  const at::Tensor bounds = at::tensor({65504.0, -65504.0, 6e-8, -0.0}).to(GetParam());
  EXPECT_EQ(finite_error({{"w", bounds}}), "");
}

TEST(CheckFiniteKinds, ViewsScalarsIntegersAndNothing) {
  at::Tensor w = at::ones({4, 4});
  w[0][3] = kNan;
  EXPECT_EQ(finite_error({{"w", w.slice(1, 0, 3)}}), "");  // the bad column is outside the view
  EXPECT_NE(finite_error({{"w", w.t()}}).find("at element 12"), std::string::npos);
  EXPECT_NE(finite_error({{"w", at::full({}, kNan)}}), "");
  EXPECT_EQ(finite_error({{"i", at::full({4}, -1, at::kLong)}, {"e", at::empty({0})}}), "");
  EXPECT_EQ(finite_error({}), "");
}

TEST(HashOf, IsThePublishedSha256) {
  // The digest of no bytes at all.
  EXPECT_EQ(hash_of({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(HashOf, DependsOnEverythingThatMatters) {
  const at::Tensor w = at::arange(6, at::kFloat);
  const std::string hash = hash_of({{"w", w}});
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(hash, hash_of({{"w", w.clone()}}));
  EXPECT_NE(hash, hash_of({{"v", w}}));
  EXPECT_NE(hash, hash_of({{"w", w.reshape({2, 3})}}));
  EXPECT_NE(hash, hash_of({{"w", w.to(at::kDouble)}}));
  EXPECT_NE(hash, hash_of({{"w", w.view(at::kInt)}}));  // the same bytes as another type
  at::Tensor changed = w.clone();
  changed[5] = 5.0000005f;
  EXPECT_NE(hash, hash_of({{"w", changed}}));
  EXPECT_NE(hash_of({{"a", w}, {"b", w}}), hash_of({{"ab", w}}));
}

TEST(HashOf, SeesValuesNotStorage) {
  const at::Tensor w = at::arange(6, at::kFloat).reshape({2, 3});
  EXPECT_EQ(hash_of({{"w", w.t()}}), hash_of({{"w", w.t().contiguous()}}));
}

}  // namespace
}  // namespace undertext
