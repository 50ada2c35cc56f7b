#include "text/byte_alphabet.h"

#include "text/utf8.h"

namespace undertext {
namespace {

struct Alphabet {
  std::array<std::string, 256> written;
  std::array<int, 0x100 + 68> byte;  // by code point; -1: stands for none

  Alphabet() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      const char32_t character = printable ? static_cast<char32_t>(b) : next++;
      append_utf8(written[static_cast<std::size_t>(b)], character);
      byte[character] = b;
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet made;
  return made;
}

}  // namespace

const std::array<std::string, 256>& byte_alphabet() {
  return alphabet().written;
}

std::optional<std::string> bytes_of_written(std::string_view written) {
  const auto& byte = alphabet().byte;
  std::string bytes;
  for (std::size_t i = 0; i < written.size();) {
    const auto code_point = decode_utf8(written, i);
    if (!code_point || code_point->value >= byte.size() || byte[code_point->value] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte[code_point->value]));
    i += code_point->bytes;
  }
  return bytes;
}

}  // namespace undertext
