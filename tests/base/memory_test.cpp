#include "base/memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace undertext {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

TEST(PeakMemory, SeesWhatWasUsedAndForgetsItWhenAsked) {
  if (peak_memory() == 0) GTEST_SKIP() << "the system does not tell";
  const std::int64_t before = peak_memory();
  { const std::vector<char> large(static_cast<std::size_t>(200 * kMegabyte), 'x'); }
  const std::int64_t with = peak_memory();
  EXPECT_GT(with, before + 150 * kMegabyte);
  reset_peak_memory();
  if (peak_memory() == with) GTEST_SKIP() << "the system does not allow a reset";
  EXPECT_LT(peak_memory(), with - 150 * kMegabyte);
}

}  // namespace
}  // namespace undertext
