// The words that BERT cuts a text into before it looks for pieces: what its authors call basic tokenization.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/unicode_traits.h"

namespace undertext {

struct BertRules {
  bool clean_text = true;            // drop control characters and U+FFFD
  bool handle_chinese_chars = true;  // each Chinese character is a word
  bool strip_accents = true;
  bool lowercase = true;

  bool operator==(const BertRules&) const = default;
};

class BertWords {
 public:
  explicit BertWords(BertRules rules) : rules_(rules), traits_(UnicodeTraits::get()) {}

  const BertRules& rules() const { return rules_; }

  // Where the chunk without white space that starts at or after `from` begins and ends; empty at the end of
  // the text. What becomes of a chunk does not depend on what is beside it.
  std::string_view next_chunk(std::string_view text, std::size_t& from) const;

  // The words of a chunk: normalised, every punctuation character a word. Bytes that are not UTF-8 count as
  // U+FFFD.
  std::vector<std::string> words(std::string_view chunk) const;

 private:
  bool separates(std::string_view text, const UnicodeTraits::Character& character, std::size_t offset) const;
  std::string normalised(std::string_view chunk) const;

  BertRules rules_;
  const UnicodeTraits& traits_;
};

}  // namespace undertext
