// A sum over the fields of a row, kept beside them: SQLite checks how its pages hang together, not what
// stands in them.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace undertext {

// FNV-1a, 64 bits: every step is a bijection of the state, so a single changed byte always changes the sum.
class Checksum {
 public:
  Checksum& add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));  // so that no byte can move to the next field
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    return *this;
  }
  Checksum& add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> shift));
    return *this;
  }
  Checksum& add(double number) { return add(std::bit_cast<std::int64_t>(number)); }
  std::int64_t value() const { return static_cast<std::int64_t>(state_); }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3u; }

  std::uint64_t state_ = 0xCBF29CE484222325u;
};

}  // namespace undertext
