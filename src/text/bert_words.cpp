#include "text/bert_words.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "base/error.h"
#include "text/utf8.h"

namespace undertext {
namespace {

// The blocks of Chinese characters that BERT's authors list.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

// ASCII's symbols count as well, whatever Unicode calls them.
bool is_punctuation(char32_t c, const UnicodeTraits& traits) {
  if (c < 0x80)
    return c > 0x20 && c < 0x7F && !(traits[c] & (UnicodeTraits::kLetter | UnicodeTraits::kNumber));
  return traits[c] & UnicodeTraits::kPunctuation;
}

template <typename Call>
void for_each_character(std::string_view text, const Call& call) {
  for (std::size_t i = 0; i < text.size();) {
    const auto code_point = decode_utf8(text, i);
    call(code_point ? code_point->value : char32_t{0xFFFD});
    i += code_point ? code_point->bytes : 1;
  }
}

std::string decomposed(const std::string& text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfd = icu::Normalizer2::getNFDInstance(status);
  std::string out;
  if (U_SUCCESS(status)) {
    icu::StringByteSink<std::string> sink(&out);
    nfd->normalizeUTF8(0, text, sink, nullptr, status);
  }
  // ICU's own data come with it, and the text is UTF-8; what is left is memory.
  if (U_FAILURE(status)) throw std::bad_alloc();
  return out;
}

void append_lower(std::string& out, char32_t c) {
  if (c == 0x130) {
    out += "i\u0307";  // the one character whose lower case is two
  } else {
    append_utf8(out, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
  }
}

}  // namespace

// A control character that is white space as well (a form feed) vanishes before it can separate, unless it is
// one of the three that people type.
bool BertWords::separates(std::string_view text, const UnicodeTraits::Character& character,
                          std::size_t offset) const {
  if (!(character.traits & UnicodeTraits::kWhiteSpace)) return false;
  if (!rules_.clean_text || !(character.traits & UnicodeTraits::kControl)) return true;
  return text[offset] == '\t' || text[offset] == '\n' || text[offset] == '\r';
}

std::string_view BertWords::next_chunk(std::string_view text, std::size_t& from) const {
  std::size_t begin = text.size();
  while (from < text.size()) {
    const UnicodeTraits::Character character = traits_.at(text, from);
    const bool separator = separates(text, character, from);
    if (separator && begin < from) break;
    if (!separator) begin = std::min(begin, from);
    from += character.bytes;
  }
  return text.substr(begin, begin < from ? from - begin : 0);
}

std::string BertWords::normalised(std::string_view chunk) const {
  std::string text;
  bool ascii = true;
  for_each_character(chunk, [&](char32_t c) {
    if (rules_.clean_text && (c == 0xFFFD || traits_[c] & UnicodeTraits::kControl)) return;
    const bool alone = rules_.handle_chinese_chars && is_chinese(c);
    if (alone) text += ' ';
    append_utf8(text, c);
    if (alone) text += ' ';
    ascii = ascii && c < 0x80;
  });
  if (rules_.strip_accents && !ascii) {
    const std::string with_accents = decomposed(text);
    text.clear();
    for_each_character(with_accents, [&](char32_t c) {
      if (!(traits_[c] & UnicodeTraits::kAccent)) append_utf8(text, c);
    });
  }
  if (rules_.lowercase) {
    std::string lower;
    for_each_character(text, [&](char32_t c) { append_lower(lower, c); });
    text = std::move(lower);
  }
  return text;
}

std::vector<std::string> BertWords::words(std::string_view chunk) const {
  std::vector<std::string> words;
  bool open = false;  // whether the last word may grow
  for_each_character(normalised(chunk), [&](char32_t c) {
    if (traits_[c] & UnicodeTraits::kWhiteSpace) {
      open = false;
      return;
    }
    const bool punctuation = is_punctuation(c, traits_);
    if (!open || punctuation) words.emplace_back();
    append_utf8(words.back(), c);
    open = !punctuation;
  });
  return words;
}

}  // namespace undertext
