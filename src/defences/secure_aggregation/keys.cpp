#include "defences/secure_aggregation/keys.h"

#include <openssl/evp.h>
#include <openssl/kdf.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace undertext {
namespace {

struct Freed {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_PKEY_CTX* p) const { EVP_PKEY_CTX_free(p); }
  void operator()(EVP_CIPHER_CTX* p) const { EVP_CIPHER_CTX_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Freed>;

constexpr std::size_t kTagSize = 16;  // of AES-GCM
constexpr std::uint8_t kZeros[16] = {};

// OpenSSL's calls give 1 where they worked; these cannot fail but for a lack of memory.
void expect(int result) {
  UNDERTEXT_CHECK(result > 0);
}

Owned<EVP_CIPHER_CTX> new_cipher() {
  Owned<EVP_CIPHER_CTX> context(EVP_CIPHER_CTX_new());
  UNDERTEXT_CHECK(context);
  return context;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Secret secret_of(Seed seed) {
  Random random(seed);
  std::uint64_t words[4];
  for (std::uint64_t& word : words) word = random.next();
  Secret secret;
  std::memcpy(secret.data(), words, secret.size());
  return secret;
}

KeyPair key_pair(const Secret& secret) {
  const Owned<EVP_PKEY> key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, secret.data(), secret.size()));
  UNDERTEXT_CHECK(key);
  KeyPair pair{secret, {}};
  std::size_t size = pair.open.size();
  expect(EVP_PKEY_get_raw_public_key(key.get(), pair.open.data(), &size));
  return pair;
}

Secret shared_secret(const Secret& own, const PublicKey& other) {
  const Owned<EVP_PKEY> mine(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, own.data(), own.size()));
  const Owned<EVP_PKEY> theirs(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, other.data(), other.size()));
  UNDERTEXT_CHECK(mine && theirs);
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new(mine.get(), nullptr));
  UNDERTEXT_CHECK(context);
  expect(EVP_PKEY_derive_init(context.get()));
  expect(EVP_PKEY_derive_set_peer(context.get(), theirs.get()));
  Secret shared;
  std::size_t size = shared.size();
  if (EVP_PKEY_derive(context.get(), shared.data(), &size) <= 0)
    fail("secure aggregation: a public key that nobody can agree with, expected one of X25519");
  return shared;
}

Secret derived_secret(const Secret& secret, std::string_view purpose) {
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
  UNDERTEXT_CHECK(context);
  expect(EVP_PKEY_derive_init(context.get()));
  expect(EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()));
  expect(EVP_PKEY_CTX_set1_hkdf_key(context.get(), secret.data(), static_cast<int>(secret.size())));
  expect(EVP_PKEY_CTX_add1_hkdf_info(context.get(), reinterpret_cast<const unsigned char*>(purpose.data()),
                                     static_cast<int>(purpose.size())));
  Secret output;
  std::size_t size = output.size();
  expect(EVP_PKEY_derive(context.get(), output.data(), &size));
  return output;
}

Secret agree(const Secret& own, const PublicKey& other, std::string_view purpose) {
  return derived_secret(shared_secret(own, other), purpose);
}

void add_masks(std::span<const Mask> masks, std::span<std::uint64_t> words, std::uint64_t first) {
  UNDERTEXT_CHECK(first % 2 == 0);
  // The counter of a block of 16 bytes, two numbers, with its largest byte first.
  std::uint8_t counter[16] = {};
  for (int byte = 0; byte < 8; ++byte)
    counter[15 - byte] = static_cast<std::uint8_t>((first / 2) >> (8 * byte));
  std::vector<Owned<EVP_CIPHER_CTX>> ciphers;
  for (const Mask& mask : masks) {
    ciphers.push_back(new_cipher());
    expect(EVP_EncryptInit_ex(ciphers.back().get(), EVP_aes_128_ctr(), nullptr, mask.secret.data(), counter));
  }
  // All masks on one piece of the words after the other, so that these stay in the first cache: no mask is
  // ever in memory as a whole, and an update is gone through once, however many masks it gets.
  constexpr std::size_t kBlock = 1024;
  alignas(64) static const std::uint64_t zeros[kBlock] = {};
  alignas(64) std::uint64_t numbers[kBlock];
  for (std::size_t from = 0; from < words.size(); from += kBlock) {
    const std::size_t count = std::min(kBlock, words.size() - from);
    std::uint64_t* const out = words.data() + from;
    for (std::size_t m = 0; m < masks.size(); ++m) {
      int written = 0;
      expect(EVP_EncryptUpdate(ciphers[m].get(), reinterpret_cast<unsigned char*>(numbers), &written,
                               reinterpret_cast<const unsigned char*>(zeros),
                               static_cast<int>(count * sizeof(std::uint64_t))));
      if (masks[m].sign == MaskSign::plus)
        for (std::size_t i = 0; i < count; ++i) out[i] += numbers[i];
      else
        for (std::size_t i = 0; i < count; ++i) out[i] -= numbers[i];
    }
  }
}

std::string seal(const Secret& key, std::string_view message) {
  const Owned<EVP_CIPHER_CTX> cipher = new_cipher();
  // A fixed nonce is safe for a key that seals one message.
  expect(EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), kZeros));
  std::string sealed(message.size() + kTagSize, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(sealed.data());
  int written = 0, rest = 0;
  expect(EVP_EncryptUpdate(cipher.get(), out, &written, bytes_of(message), static_cast<int>(message.size())));
  expect(EVP_EncryptFinal_ex(cipher.get(), out + written, &rest));
  expect(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagSize, out + message.size()));
  return sealed;
}

std::string open_sealed(const Secret& key, std::string_view sealed) {
  const auto refuse = [] { fail("secure aggregation: a sealed message was changed on its way"); };
  if (sealed.size() < kTagSize) refuse();
  const Owned<EVP_CIPHER_CTX> cipher = new_cipher();
  expect(EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), kZeros));
  std::string message(sealed.size() - kTagSize, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(message.data());
  int written = 0, rest = 0;
  expect(EVP_DecryptUpdate(cipher.get(), out, &written, bytes_of(sealed), static_cast<int>(message.size())));
  std::string tag(sealed.substr(message.size()));
  expect(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagSize, tag.data()));
  if (EVP_DecryptFinal_ex(cipher.get(), out + written, &rest) <= 0) refuse();
  return message;
}

}  // namespace undertext
