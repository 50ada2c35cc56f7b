// UTF-8, as much of it as word tokens need: validation, code points, lower case of Latin letters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace undertext {

struct CodePoint {
  char32_t value;
  std::size_t bytes;  // 1 to 4
};

// The well-formed code point at text[offset] (no overlong forms, no surrogates, at most U+10FFFF), or
// nothing.
std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t offset);

// Offset of the first byte that is not part of well-formed UTF-8, or nothing when all of it is.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

// The text with U+FFFD for whatever is not UTF-8: one for each byte, or for the start of a character that
// breaks off (the practice that Unicode recommends, and Python follows).
std::string replace_invalid_utf8(std::string_view text);

// Lower case of ASCII, Latin-1, Latin Extended-A and Latin Extended Additional; the rest stays as it is.
char32_t lower_latin(char32_t code_point);

// The white space of Unicode, among it the no-break spaces that phones insert.
bool is_white_space(char32_t code_point);

}  // namespace undertext
