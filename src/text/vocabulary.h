// A word vocabulary and the keyboard's normalisation (gboard-next-word, sections 2.3 and 4.1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// The words of a text as the keyboard sees them: lower case, a curly apostrophe as ', every other ASCII
// punctuation character but the backslash as a space, split on white space, and "i" as "I".
std::vector<std::string> keyboard_words(std::string_view text);

class Vocabulary : public Tokenizer {
 public:
  explicit Vocabulary(std::vector<std::string> words);        // must hold </S>, <S> and <UNK>
  static Vocabulary load(const std::filesystem::path& file);  // vocab.txt: one word a line, id = line
  static Vocabulary parse(std::string_view content, const std::string& source);

  std::int64_t size() const override { return static_cast<std::int64_t>(words_.size()); }
  const std::string& word(Token id) const { return words_.at(static_cast<std::size_t>(id)); }
  Token id(std::string_view word) const;      // <UNK> when unknown
  Token start() const { return start_; }      // <S>
  Token end() const { return end_; }          // </S>
  Token unknown() const { return unknown_; }  // <UNK>

  SpecialTokens special() const override;
  // keyboard_words, unknown ones as <UNK>.
  Sentence encode(std::string_view sentence) const override;
  std::string decode(std::span<const Token> sentence) const override;
  std::string token(Token id) const override { return word(id); }
  void save(const std::filesystem::path& folder) const override;  // vocab.txt

 private:
  // source: what the errors name, a file or "the vocabulary".
  Vocabulary(std::vector<std::string> words, const std::string& source);
  Token find_special(const std::string& word, const std::string& source) const;

  std::vector<std::string> words_;
  std::unordered_map<std::string, Token> ids_;
  Token start_ = 0, end_ = 0, unknown_ = 0;
};

// The most frequent words of the texts: ids 0 </S>, 1 <S>, 2 <UNK>, then by frequency, ties alphabetically,
// max_words entries at most (these three included).
Vocabulary build_vocabulary(std::span<const std::string> texts, std::int64_t max_words);

}  // namespace undertext
