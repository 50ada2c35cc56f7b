#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace undertext {

std::string quote(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string out = "\"";
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool starts_character = (c & 0xC0) != 0x80;  // never cut inside a UTF-8 sequence
    if (i >= kLongest && starts_character) {
      out += "...";
      break;
    }
    if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += name[i];
    }
  }
  return out + '"';
}

void bug(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "undertext: this is a bug: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace undertext
