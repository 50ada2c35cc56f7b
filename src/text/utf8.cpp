#include "text/utf8.h"

namespace undertext {
namespace {

// How many bytes at text[offset], where no character is, could still have become one: at least 1.
std::size_t broken_bytes(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  // The second byte of some leads has a narrower range: no overlong forms, no surrogates, nothing too large.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 1;
  if (lead < 0xE0) return 2;
  std::size_t length = 2;
  while (length < (lead >= 0xF0 ? 4u : 3u) && (byte(length) & 0xC0) == 0x80) ++length;
  return length;
}

}  // namespace

std::optional<CodePoint> decode_utf8(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return CodePoint{lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  // 0x80..0xC1 are continuation bytes and overlong leads, 0xF5.. would exceed U+10FFFF.
  if (lead < 0xC2 || lead > 0xF4 || text.size() - offset < length) return std::nullopt;
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const char32_t smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest || value > 0x10FFFF || surrogate) return std::nullopt;
  return CodePoint{value, length};
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const auto code_point = decode_utf8(text, offset);
    if (!code_point) return offset;
    offset += code_point->bytes;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto push = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | code_point >> 6);
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | code_point >> 12);
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | code_point >> 18);
    push(0x80 | (code_point >> 12 & 0x3F));
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (const auto code_point = decode_utf8(text, i)) {
      out += text.substr(i, code_point->bytes);
      i += code_point->bytes;
      continue;
    }
    append_utf8(out, 0xFFFD);
    i += broken_bytes(text, i);
  }
  return out;
}

char32_t lower_latin(char32_t c) {
  if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 32 : c;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 32;  // 0xD7 is the multiplication sign
  if (c == 0x130) return U'i';                             // I with a dot: its dot is that of our i
  if (c == 0x178) return 0xFF;                             // Y with diaeresis, apart from its block
  if (c == 0x1E9E) return 0xDF;                            // capital sharp s
  // Pairs of upper and lower case; in these ranges the upper one is even ...
  const bool even = (c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177) ||
                    (c >= 0x1E00 && c <= 0x1E95) || (c >= 0x1EA0 && c <= 0x1EFF);
  if (even) return c | 1;
  // ... and in these it is odd.
  const bool odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  if (odd && c % 2 == 1) return c + 1;
  return c;
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

}  // namespace undertext
