#include "tensors/packed_floats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace undertext {
namespace {

std::vector<float> normal(std::uint64_t seed, std::size_t n, float scale) {
  std::vector<float> values(n, 0.0f);
  add_normal_noise(Seed(seed), scale, values.data(), static_cast<std::int64_t>(n));
  return values;
}

void expect_same(const std::vector<float>& values, const std::vector<float>& base) {
  const std::string packed = pack_floats(values, base);
  std::vector<float> restored(values.size(), -7.0f);
  unpack_floats(packed, base, restored, "t");
  EXPECT_EQ(std::memcmp(values.data(), restored.data(), values.size() * sizeof(float)), 0);
}

TEST(PackedFloats, EveryBitComesBack) {
  std::vector<float> odd = {0.0f,
                            -0.0f,
                            1.0f,
                            -1.0f,
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::denorm_min(),
                            -std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest(),
                            std::bit_cast<float>(0x7FC00001U),
                            std::bit_cast<float>(0xFFC00001U)};
  expect_same(odd, {});
  std::vector<float> turned(odd.rbegin(), odd.rend());
  expect_same(odd, turned);
  expect_same({}, {});
  for (const std::size_t n : {1, 2, 1000, 100'001}) {
    const std::vector<float> values = normal(1, n, 0.1f), base = normal(2, n, 0.1f);
    expect_same(values, {});
    expect_same(values, base);
    expect_same(values, values);
  }
  Random random{Seed(5)};
  std::vector<float> bits(20'000), others(20'000);
  for (float& value : bits) value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  for (float& value : others) value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  expect_same(bits, {});
  expect_same(bits, others);
}

TEST(PackedFloats, WeightsThatMovedLittleTakeLess) {
  const std::size_t n = 100'000, bytes = 4 * n;
  const std::vector<float> base = normal(1, n, 0.1f);
  std::vector<float> moved = base;
  const std::vector<float> step = normal(2, n, 1e-4f);
  for (std::size_t i = 0; i < n; ++i) moved[i] += step[i];
  EXPECT_LT(pack_floats(moved).size(), bytes * 90 / 100);
  EXPECT_LT(pack_floats(moved, base).size(), bytes * 65 / 100);
  EXPECT_LT(pack_floats(base, base).size(), bytes / 100);
}

TEST(PackedFloats, NoHostileBytesCrashIt) {
  const std::vector<float> values = normal(1, 5000, 0.1f);
  std::vector<float> base = values, restored(values.size());
  base[7] = 3;
  const std::string packed = pack_floats(values, base);
  const auto complains = [&](const std::string& bytes) {
    try {
      unpack_floats(bytes, base, restored, "t");
    } catch (const UserError& error) {
      return std::string(error.what()).starts_with("t: ");
    }
    return false;
  };
  for (std::size_t length = 0; length < packed.size(); length += 7)
    EXPECT_TRUE(complains(packed.substr(0, length))) << length;
  EXPECT_TRUE(complains(packed + "x"));
  // Lengths that claim more than there is, or than numbers are asked for.
  for (const unsigned char byte : {0xFF, 0x80, 0x01}) {
    std::string longer = packed;
    longer[7] = static_cast<char>(byte);
    EXPECT_TRUE(complains(longer));
  }
  Random random{Seed(1)};
  for (int i = 0; i < 2000; ++i) {  // other numbers may come out, and nothing worse
    std::string damaged = packed;
    damaged[static_cast<std::size_t>(random.below(packed.size()))] ^=
        static_cast<char>(1 + random.below(255));
    complains(damaged);
  }
}

}  // namespace
}  // namespace undertext
