// Names for content: SHA-256 by OpenSSL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace undertext {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(const void* data, std::size_t size);
  void add_number(std::uint64_t number);
  // With its length in front, so that no two lists of strings give the same bytes.
  void add_string(std::string_view text);
  std::string hex();  // 64 digits; ends the hash

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The hash of these bytes and nothing else, as sha256sum prints it.
std::string sha256_of(std::string_view bytes);

}  // namespace undertext
