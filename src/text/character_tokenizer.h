// One token for each Unicode character.
#pragma once

#include "text/flat_table.h"
#include "text/tokenizer.h"

namespace undertext {

class CharacterTokenizer : public Tokenizer {
 public:
  // By id. U+FFFD, which stands for all others and for bytes that are not UTF-8, comes last where it is
  // missing.
  CharacterTokenizer(std::u32string characters, const std::string& source);

  // characters.json's content: a list of strings of one character.
  static CharacterTokenizer parse(std::string_view json, const std::string& source);

  std::int64_t size() const override { return static_cast<std::int64_t>(characters_.size()); }
  SpecialTokens special() const override;
  Sentence encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::string token(Token id) const override;
  void save(const std::filesystem::path& folder) const override;  // characters.json

 private:
  std::u32string characters_;
  FlatTable ids_;
  Token unknown_ = 0;
};

// U+FFFD and the characters of the texts in Unicode's order.
CharacterTokenizer build_characters(std::span<const std::string> texts);

}  // namespace undertext
