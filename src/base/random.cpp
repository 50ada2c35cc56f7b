#include "base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): the counter moves by the golden ratio, a finaliser mixes it. Its
// state is a plain counter, so any draw can be computed without the ones before it.
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
// Keep derivation by name, derivation by index and drawing apart, so that none can repeat another.
constexpr std::uint64_t kNameDomain = 0x6E616D65u;
constexpr std::uint64_t kIndexDomain = 0x696E6478u;
constexpr std::uint64_t kDrawDomain = 0x64726177u;
constexpr std::uint64_t kNoiseDomain = 0x6E6F6973u;
constexpr std::uint64_t kLaplaceDomain = 0x6C61706Cu;

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::uint64_t key_of(std::uint64_t seed, std::uint64_t domain) {
  return mix(mix(seed + kGolden) ^ (domain * kGolden));
}

// One pair of normals comes from one 64-bit draw. Pair k of a group gives elements k and kPairs + k of that
// group, so that both halves are stored without shuffling.
constexpr int kPairs = 128;
constexpr std::int64_t kGroup = std::int64_t{2} * kPairs;
constexpr std::int64_t kGroupsPerTask = 256;

// Natural logarithm of u in (0, 1], to about 1e-7 relative. Branch-free, so that the compiler vectorises it:
// u = m * 2^e with m in [sqrt(1/2), sqrt(2)), ln m = 2 atanh(s) for s = (m - 1) / (m + 1), |s| < 0.172.
inline float log_of(float u) {
  constexpr std::int32_t kSqrtHalf = std::bit_cast<std::int32_t>(0.70710678f);
  const std::int32_t bits = std::bit_cast<std::int32_t>(u);
  const std::int32_t exponent = (bits - kSqrtHalf) >> 23;
  const float m = std::bit_cast<float>(bits - exponent * (1 << 23));
  const float s = (m - 1.0f) / (m + 1.0f);
  const float s2 = s * s;
  const float series = 1.0f + s2 * (1.0f / 3 + s2 * (1.0f / 5 + s2 * (1.0f / 7 + s2 * (1.0f / 9))));
  return static_cast<float>(exponent) * std::numbers::ln2_v<float> + 2.0f * s * series;
}

// Box-Muller: the upper half of a draw gives the radius, the lower half the angle.
void normals_of_group(std::uint64_t key, std::uint64_t group, float (&out)[kGroup]) {
  for (int k = 0; k < kPairs; ++k) {
    const std::uint64_t draw = mix(key + (group * kPairs + static_cast<std::uint64_t>(k)) * kGolden);
    const auto radius_bits = static_cast<std::int32_t>(draw >> 33);  // 31 bits
    const auto angle_bits = static_cast<std::int32_t>(draw & 0xFFFFFFFFu);

    const float u = (static_cast<float>(radius_bits) + 0.5f) * 0x1p-31f;
    const float radius = std::sqrt(-2.0f * log_of(u));

    // 30 bits place the point on the arc [-45, 45) degrees, one bit mirrors the arc at the diagonal and one
    // at the origin: together the whole circle, and short series for sine and cosine.
    const float t = static_cast<float>((angle_bits & 0x3FFFFFFF) - 0x20000000) *
                    (std::numbers::pi_v<float> / 2 * 0x1p-30f);
    const float t2 = t * t;
    const float sine =
        t * (1 + t2 * (-1.0f / 6 + t2 * (1.0f / 120 + t2 * (-1.0f / 5040 + t2 * (1.0f / 362880)))));
    const float cosine = 1 + t2 * (-1.0f / 2 + t2 * (1.0f / 24 + t2 * (-1.0f / 720 + t2 * (1.0f / 40320))));
    const bool mirrored = (angle_bits & 0x40000000) != 0;
    const float signed_radius = angle_bits < 0 ? -radius : radius;
    out[k] = signed_radius * (mirrored ? sine : cosine);
    out[kPairs + k] = signed_radius * (mirrored ? cosine : sine);
  }
}

// -log of a uniform number is exponential; one more bit is its sign. Half a draw for each.
float laplace_of(std::uint32_t bits) {
  const float u = (static_cast<float>(static_cast<std::int32_t>(bits >> 1)) + 0.5f) * 0x1p-31f;
  const float size = -log_of(std::min(u, 1.0f));
  return (bits & 1) != 0 ? -size : size;
}

void laplaces_of_group(std::uint64_t key, std::uint64_t group, float (&out)[kGroup]) {
  for (int k = 0; k < kPairs; ++k) {
    const std::uint64_t draw = mix(key + (group * kPairs + static_cast<std::uint64_t>(k)) * kGolden);
    out[k] = laplace_of(static_cast<std::uint32_t>(draw >> 32));
    out[kPairs + k] = laplace_of(static_cast<std::uint32_t>(draw));
  }
}

using GroupOfNoise = void (*)(std::uint64_t key, std::uint64_t group, float (&out)[kGroup]);

void add_noise(std::uint64_t key, GroupOfNoise noise_of_group, float scale, float* values, std::int64_t n) {
  if (n <= 0) return;
  const std::int64_t groups = (n + kGroup - 1) / kGroup;
  const std::int64_t tasks = (groups + kGroupsPerTask - 1) / kGroupsPerTask;
  parallel_for(tasks, [&](std::int64_t task) {
    float noise[kGroup];
    const std::int64_t end = std::min(groups, (task + 1) * kGroupsPerTask);
    for (std::int64_t group = task * kGroupsPerTask; group < end; ++group) {
      noise_of_group(key, static_cast<std::uint64_t>(group), noise);
      float* part = values + group * kGroup;
      const std::int64_t size = std::min(kGroup, n - group * kGroup);
      for (std::int64_t i = 0; i < size; ++i) part[i] += scale * noise[i];
    }
  });
}

}  // namespace

Seed Seed::derive(std::string_view name) const {
  std::uint64_t hash = key_of(value_, kNameDomain);
  for (const char c : name) hash = mix((hash ^ static_cast<unsigned char>(c)) + kGolden);
  return Seed(mix(hash ^ (name.size() * kGolden)));
}

Seed Seed::derive(std::uint64_t index) const {
  return Seed(mix(key_of(value_, kIndexDomain) + index * kGolden));
}

Random::Random(Seed seed) : key_(key_of(seed.value(), kDrawDomain)) {}

std::uint64_t Random::next() {
  return mix(key_ + kGolden * counter_++);
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

std::uint64_t Random::below(std::uint64_t bound) {
  UNDERTEXT_CHECK(bound > 0);
  // The last, incomplete copy of [0, bound) in the 64-bit range would favour small values: draw again there.
  const std::uint64_t incomplete = (0 - bound) % bound;
  while (true) {
    const std::uint64_t draw = next();
    if (draw >= incomplete) return draw % bound;
  }
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

void add_normal_noise(Seed seed, float scale, float* values, std::int64_t n) {
  add_noise(key_of(seed.value(), kNoiseDomain), normals_of_group, scale, values, n);
}

void add_laplace_noise(Seed seed, float scale, float* values, std::int64_t n) {
  add_noise(key_of(seed.value(), kLaplaceDomain), laplaces_of_group, scale, values, n);
}

}  // namespace undertext
