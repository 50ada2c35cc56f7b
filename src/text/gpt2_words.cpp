#include "text/gpt2_words.h"

namespace undertext {
namespace {

constexpr std::uint8_t kKinds = UnicodeTraits::kLetter | UnicodeTraits::kNumber | UnicodeTraits::kWhiteSpace;

// Bytes of the contraction at text[begin], an apostrophe; 0 when it is none.
std::size_t contraction(std::string_view text, std::size_t begin) {
  const char first = begin + 1 < text.size() ? text[begin + 1] : '\0';
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const std::string_view two = text.substr(begin + 1, 2);
  return two == "re" || two == "ve" || two == "ll" ? 3 : 0;
}

}  // namespace

std::size_t gpt2_word_end(std::string_view text, std::size_t begin, const UnicodeTraits& traits) {
  if (text[begin] == '\'') {
    if (const std::size_t bytes = contraction(text, begin)) return begin + bytes;
  }
  UnicodeTraits::Character first = traits.at(text, begin);
  std::size_t at = begin + first.bytes;
  if (text[begin] == ' ' && at < text.size()) {
    const UnicodeTraits::Character next = traits.at(text, at);
    if (!(next.traits & UnicodeTraits::kWhiteSpace)) {
      first = next;
      at += next.bytes;
    }
  }
  const auto kind = static_cast<std::uint8_t>(first.traits & kKinds);
  std::size_t last = begin;  // where the run's last character starts
  while (at < text.size()) {
    const UnicodeTraits::Character next = traits.at(text, at);
    if ((next.traits & kKinds) != kind) {
      // The last of several spaces before a word is left to that word.
      return kind == UnicodeTraits::kWhiteSpace && last != begin ? last : at;
    }
    last = at;
    at += next.bytes;
  }
  return at;
}

}  // namespace undertext
