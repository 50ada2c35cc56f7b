#include "defences/secure_aggregation/fixed_point.h"

#include <cmath>

#include "base/error.h"

namespace undertext {

std::vector<std::uint64_t> to_fixed_point(std::span<const double> numbers, std::int64_t clients) {
  const double limit = std::ldexp(1.0, 63 - kFractionBits - 1) / static_cast<double>(clients);
  std::vector<std::uint64_t> words;
  words.reserve(numbers.size());
  for (const double number : numbers) {
    if (!(std::abs(number) < limit))
      fail("secure aggregation: a number of {} in an update, expected a size below {}", number, limit);
    words.push_back(static_cast<std::uint64_t>(std::llrint(std::ldexp(number, kFractionBits))));
  }
  return words;
}

std::vector<double> from_fixed_point(std::span<const std::uint64_t> words) {
  std::vector<double> numbers;
  numbers.reserve(words.size());
  for (const std::uint64_t word : words)
    numbers.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(word)), -kFractionBits));
  return numbers;
}

}  // namespace undertext
