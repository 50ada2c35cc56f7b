// Shamir's sharing of a secret (1979): any `threshold` of the shares give it back, fewer tell nothing of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "defences/secure_aggregation/keys.h"

namespace undertext {

// One value of a polynomial over GF(2^16) for every two bytes of the secret.
struct Share {
  std::uint16_t place = 0;  // 1 to 65535: where the polynomials are evaluated
  std::array<std::uint16_t, 16> values = {};
};

// `count` shares, at places 1 to count. 1 <= threshold <= count <= 65535. The coefficients come from the
// seed.
std::vector<Share> share_secret(const Secret& secret, std::int64_t count, std::int64_t threshold, Seed seed);

// From exactly as many shares as the threshold was, at places that differ.
Secret join_shares(std::span<const Share> shares);

}  // namespace undertext
