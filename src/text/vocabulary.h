// A word vocabulary and the keyboard's normalisation (gboard-next-word, section 2.3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace undertext {

using Token = std::int32_t;
using Sentence = std::vector<Token>;  // word ids, without <S>

class Vocabulary {
 public:
  explicit Vocabulary(std::vector<std::string> words);            // must hold </S>, <S> and <UNK>
  static Vocabulary load(const std::filesystem::path& file);      // vocab.txt: one word a line, id = line
  void save(const std::filesystem::path& file) const;

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  const std::string& word(Token id) const { return words_.at(static_cast<std::size_t>(id)); }
  Token id(std::string_view word) const;                          // <UNK> when unknown
  Token start() const { return start_; }                          // <S>
  Token end() const { return end_; }                              // </S>
  Token unknown() const { return unknown_; }                      // <UNK>

  // Lower case, punctuation out, "i" as "I", unknown words as <UNK>.
  Sentence encode(std::string_view sentence) const;
  std::string decode(std::span<const Token> sentence) const;

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, Token> ids_;
  Token start_ = 0, end_ = 0, unknown_ = 0;
};

}  // namespace undertext
