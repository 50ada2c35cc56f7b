// What Unicode says of a character, as far as tokenizers ask: one table, made once from ICU's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "text/utf8.h"

namespace undertext {

class UnicodeTraits {
 public:
  static constexpr std::uint8_t kLetter = 1;       // L*
  static constexpr std::uint8_t kNumber = 2;       // N*
  static constexpr std::uint8_t kWhiteSpace = 4;   // the property White_Space
  static constexpr std::uint8_t kPunctuation = 8;  // P*
  static constexpr std::uint8_t kAccent = 16;      // Mn, a mark that takes no room of its own
  static constexpr std::uint8_t kControl = 32;     // C*: control, format, private use, unassigned

  static const UnicodeTraits& get();

  std::uint8_t operator[](char32_t c) const { return (*traits_)[c]; }  // c: at most U+10FFFF

  struct Character {
    std::uint8_t traits;
    std::size_t bytes;
  };
  // The character at text[offset]; a byte that is not part of UTF-8 stands alone and has no trait.
  Character at(std::string_view text, std::size_t offset) const {
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (byte < 0x80) return {(*traits_)[byte], 1};
    const auto code_point = decode_utf8(text, offset);
    if (!code_point) return {0, 1};
    return {(*traits_)[code_point->value], code_point->bytes};
  }

 private:
  UnicodeTraits();

  static constexpr std::size_t kCodePoints = 0x110000;
  std::unique_ptr<std::array<std::uint8_t, kCodePoints>> traits_;
};

}  // namespace undertext
