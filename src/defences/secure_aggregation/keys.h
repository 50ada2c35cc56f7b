// Keys and ciphers of secure aggregation, all by OpenSSL: X25519 to agree, HKDF to derive, AES-CTR for masks,
// AES-GCM for what clients send each other through the server.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace undertext {

using Secret = std::array<std::uint8_t, 32>;
using PublicKey = std::array<std::uint8_t, 32>;

// A pair of X25519 (RFC 7748).
struct KeyPair {
  Secret secret;
  PublicKey open;
};

// From the seed, so that a simulation can be run again. A device would ask its system for random bytes.
Secret secret_of(Seed seed);
KeyPair key_pair(const Secret& secret);

// What two parties share: the same for (own secret, other's key) and the reverse. UserError for a key that is
// no point of the curve's large group.
Secret shared_secret(const Secret& own, const PublicKey& other);
// Another one for each purpose (HKDF-SHA256); and both in one.
Secret derived_secret(const Secret& secret, std::string_view purpose);
Secret agree(const Secret& own, const PublicKey& other, std::string_view purpose);

// A stream of AES-128 in counter mode under the secret, to be added or taken off.
enum class MaskSign { plus, minus };
struct Mask {
  Secret secret;
  MaskSign sign = MaskSign::plus;
};
// words[i] += or -= number first + i (mod 2^64) of every mask. first: even.
void add_masks(std::span<const Mask> masks, std::span<std::uint64_t> words, std::uint64_t first = 0);

// Sealed under a key that is used for one message alone; opening what was tampered with is a UserError.
std::string seal(const Secret& key, std::string_view message);
std::string open_sealed(const Secret& key, std::string_view sealed);

}  // namespace undertext
