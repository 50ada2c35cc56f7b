// Texts that nobody would write, the same in every run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "text/utf8.h"

namespace undertext {

// Characters from all over Unicode, with white space, apostrophes, letters and digits as often as the rest.
inline std::string random_text(std::mt19937_64& random, std::size_t characters) {
  static const std::u32string common =
      U" \t\n'strevmlld aZ09.,-\u00A0\u0301\u2028\u3000\u4E16\u0430\u0660\u00B2\U0001F600";
  std::string text;
  for (std::size_t i = 0; i < characters; ++i) {
    char32_t c = common[random() % common.size()];
    if (random() % 4 == 0) c = static_cast<char32_t>(random() % (random() % 2 ? 0x110000 : 0x3000));
    if (c >= 0xD800 && c <= 0xDFFF) c = U'x';
    append_utf8(text, c);
  }
  return text;
}

inline std::string random_bytes(std::mt19937_64& random, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(random() % 256));
  return text;
}

}  // namespace undertext
