#include "base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.h"

namespace undertext {

struct Sha256::Context {
  EVP_MD_CTX* handle = EVP_MD_CTX_new();
  Context() = default;
  ~Context() { EVP_MD_CTX_free(handle); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  UNDERTEXT_CHECK(context_->handle != nullptr &&
                  EVP_DigestInit_ex(context_->handle, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(const void* data, std::size_t size) {
  UNDERTEXT_CHECK(EVP_DigestUpdate(context_->handle, data, size) == 1);
}

void Sha256::add_number(std::uint64_t number) {
  add(&number, sizeof number);
}

void Sha256::add_string(std::string_view text) {
  add_number(text.size());
  add(text.data(), text.size());
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  UNDERTEXT_CHECK(EVP_DigestFinal_ex(context_->handle, digest, &size) == 1);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

}  // namespace undertext
