// Randomness by name: every consumer derives its own seed, so that results depend neither on the order in
// which things run nor on how many threads run them.
#pragma once

#include <cstdint>
#include <string_view>

namespace undertext {

// A point in the tree of seeds. derive("noise").derive(3) is the same whoever asks, whenever.
class Seed {
 public:
  explicit Seed(std::uint64_t value) : value_(value) {}
  Seed derive(std::string_view name) const;
  Seed derive(std::uint64_t index) const;
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

// A counter-based generator: draw i is a pure function of (seed, i).
class Random {
 public:
  explicit Random(Seed seed);
  std::uint64_t next();                      // 64 uniform bits
  double uniform();                          // [0, 1)
  std::uint64_t below(std::uint64_t bound);  // 0 .. bound - 1, unbiased; bound > 0
  double normal();                           // mean 0, standard deviation 1

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

// values[i] += scale * z_i for i in [0, n), z_i standard normal and a function of (seed, i) alone:
// the same whatever the number of threads.
void add_normal_noise(Seed seed, float scale, float* values, std::int64_t n);
// The same with z_i of the Laplace distribution with density exp(-|z|) / 2, whose standard deviation is
// sqrt(2).
void add_laplace_noise(Seed seed, float scale, float* values, std::int64_t n);

}  // namespace undertext
