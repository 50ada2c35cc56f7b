// Dropout whose choices are a function of the seed and the place, so that the way back draws them again
// instead of keeping them, and threads change nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace undertext {

class Dropout {
 public:
  Dropout() = default;  // lets everything through
  Dropout(double share, Seed seed)
      : seed_(seed.value()),
        limit_(static_cast<std::uint32_t>(share * 4294967296.0)),
        factor_(static_cast<float>(1 / (1 - share))) {}

  bool acts() const { return limit_ > 0; }
  // 0 for what is dropped, 1 / (1 - share) for what stays.
  float factor(std::uint64_t place) const {
    return static_cast<std::uint32_t>(draw(place) >> 32) < limit_ ? 0.0f : factor_;
  }
  // values[i] *= factor(i) for i in [0, n), on all threads.
  void apply(float* values, std::int64_t n) const;

  // to[i] = from[i] times the like of factor() for i in [0, n), as that row of n has it; may be the same.
  // Four choices are made of each draw, for loops that would otherwise spend much of their time here, so that
  // the share is rounded to a multiple of 1 / 65536.
  void apply_to_row(std::uint64_t row, const float* from, float* to, std::int64_t n) const;

 private:
  std::uint64_t draw(std::uint64_t place) const {
    std::uint64_t x = seed_ + place * 0x9E3779B97F4A7C15u;  // the finaliser of splitmix64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  std::uint64_t seed_ = 0;
  std::uint32_t limit_ = 0;
  float factor_ = 1;
};

}  // namespace undertext
