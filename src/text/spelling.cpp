#include "text/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/vocabulary.h"

namespace undertext {
namespace {

constexpr std::string_view kBlank = "␣";

bool continues(char byte) {  // a character of UTF-8
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::string spelled(std::string_view message) {
  std::string letters;
  for (const std::string& word : keyboard_words(message)) {
    if (!letters.empty()) letters += fmt::format(" {} ", kBlank);
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (i > 0 && !continues(word[i])) letters += ' ';
      letters += word[i];
    }
  }
  return letters;
}

std::string unspelled(std::string_view letters) {
  std::string message;
  while (!letters.empty()) {
    const std::size_t space = letters.find(' ');
    const std::string_view letter = letters.substr(0, space);
    message += letter == kBlank ? " " : letter == "I" ? "i" : letter;  // a keyboard's word "i" is "I"
    letters = space == std::string_view::npos ? "" : letters.substr(space + 1);
  }
  return fmt::format("{}", fmt::join(keyboard_words(message), " "));
}

}  // namespace undertext
