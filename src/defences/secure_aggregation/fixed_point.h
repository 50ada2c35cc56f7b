// Numbers as whole multiples of a small step, in 64 bits that wrap around: sums of these are exact in any
// order, and a uniform mask hides them perfectly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace undertext {

// 2^-32: float32 numbers above 2^-8 are met exactly, smaller ones to 1.2e-10.
inline constexpr int kFractionBits = 32;

// UserError for a number that is not finite or whose sum over `clients` could wrap around.
std::vector<std::uint64_t> to_fixed_point(std::span<const double> numbers, std::int64_t clients);
std::vector<double> from_fixed_point(std::span<const std::uint64_t> words);

}  // namespace undertext
