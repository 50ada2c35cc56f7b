#include "defences/secure_aggregation/secret_sharing.h"

#include <cstring>

#include "base/error.h"

namespace undertext {
namespace {

// GF(2^16) modulo x^16 + x^12 + x^3 + x + 1, which is primitive: every number but 0 is a power of x.
class Field {
 public:
  Field() : powers_(2 * kOrder), logarithms_(kOrder + 1) {
    std::uint32_t value = 1;
    for (std::uint32_t i = 0; i < kOrder; ++i) {
      powers_[i] = powers_[i + kOrder] = static_cast<std::uint16_t>(value);
      logarithms_[value] = static_cast<std::uint16_t>(i);
      value <<= 1;
      if (value > kOrder) value ^= 0x1100B;
    }
  }
  std::uint16_t multiply(std::uint16_t a, std::uint16_t b) const {
    if (a == 0 || b == 0) return 0;
    return powers_[std::size_t{logarithms_[a]} + logarithms_[b]];
  }
  std::uint16_t divide(std::uint16_t a, std::uint16_t b) const {  // b is not 0
    if (a == 0) return 0;
    return powers_[std::size_t{logarithms_[a]} + kOrder - logarithms_[b]];
  }

 private:
  static constexpr std::uint32_t kOrder = 65535;
  std::vector<std::uint16_t> powers_, logarithms_;
};

const Field& field() {
  static const Field instance;
  return instance;
}

using Words = std::array<std::uint16_t, 16>;

Words words_of(const Secret& secret) {
  Words words;
  std::memcpy(words.data(), secret.data(), secret.size());
  return words;
}

}  // namespace

std::vector<Share> share_secret(const Secret& secret, std::int64_t count, std::int64_t threshold, Seed seed) {
  UNDERTEXT_CHECK(threshold >= 1 && threshold <= count && count <= 65535);
  // The secret is the value at 0.
  std::vector<Words> coefficients = {words_of(secret)};
  Random random(seed);
  for (std::int64_t degree = 1; degree < threshold; ++degree) {
    Words words;
    for (std::uint16_t& word : words) word = static_cast<std::uint16_t>(random.next());
    coefficients.push_back(words);
  }
  std::vector<Share> shares(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i].place = static_cast<std::uint16_t>(i + 1);
    for (std::size_t w = 0; w < shares[i].values.size(); ++w) {
      std::uint16_t value = 0;  // Horner's scheme
      for (std::size_t d = coefficients.size(); d-- > 0;)
        value = static_cast<std::uint16_t>(field().multiply(value, shares[i].place) ^ coefficients[d][w]);
      shares[i].values[w] = value;
    }
  }
  return shares;
}

// Lagrange's interpolation at 0; in this field a difference is an exclusive or.
Secret join_shares(std::span<const Share> shares) {
  Words words = {};
  for (const Share& share : shares) {
    std::uint16_t weight = 1;
    for (const Share& other : shares) {
      if (other.place == share.place) continue;
      weight = field().multiply(
          weight, field().divide(other.place, static_cast<std::uint16_t>(other.place ^ share.place)));
    }
    for (std::size_t w = 0; w < words.size(); ++w)
      words[w] = static_cast<std::uint16_t>(words[w] ^ field().multiply(weight, share.values[w]));
  }
  Secret secret;
  std::memcpy(secret.data(), words.data(), secret.size());
  return secret;
}

}  // namespace undertext
