// Tokenizers small enough to work with by hand, and their files.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "text/byte_alphabet.h"
#include "text/tokenizer_json.h"
#include "text/word_piece_tokenizer.h"

namespace undertext {

using Merges = std::vector<std::pair<std::string, std::string>>;

// The 256 bytes (id = byte), then what each merge makes, then <|endoftext|>. \u0120 is a space.
inline nlohmann::json tiny_vocabulary(const Merges& merges) {
  nlohmann::json vocabulary;
  for (std::size_t byte = 0; byte < 256; ++byte) vocabulary[byte_alphabet()[byte]] = byte;
  for (const auto& [left, right] : merges) {
    if (!vocabulary.contains(left + right)) vocabulary[left + right] = vocabulary.size();
  }
  vocabulary["<|endoftext|>"] = vocabulary.size();
  return vocabulary;
}

inline std::string merges_file(const Merges& merges) {
  std::string text = "#version: 0.2\n";
  for (const auto& [left, right] : merges) text += left + " " + right + "\n";
  return text;
}

inline std::shared_ptr<const Tokenizer> tiny_byte_pairs(const Merges& merges) {
  return parse_byte_pairs(tiny_vocabulary(merges).dump(), merges_file(merges), "vocab.json", "merges.txt");
}

// 256 "he", 257 "ll", 258 "hell", 259 "hello", 260 "\u0120w", 261 "or", 262 "ld", 263 "\u0120wor", 264 the
// end.
inline const Merges kHello = {{"h", "e"},      {"l", "l"}, {"he", "ll"}, {"hell", "o"},
                              {"\u0120", "w"}, {"o", "r"}, {"l", "d"},   {"\u0120w", "or"}};

// The tokenizer.json of the above; to be changed and broken.
inline nlohmann::json tiny_tokenizer_json() {
  nlohmann::json merges = nlohmann::json::array();
  for (const auto& [left, right] : kHello) merges.push_back(left + " " + right);
  const nlohmann::json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  return {{"added_tokens", {{{"id", 264}, {"content", "<|endoftext|>"}, {"special", true}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"decoder", byte_level},
          {"model", {{"type", "BPE"}, {"vocab", tiny_vocabulary(kHello)}, {"merges", merges}}}};
}

inline const char* const kPieces =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nrun\n##ning\n,\n.\n'\ncafe\n\u4E16\n##n\nr\n##"
    "u\n(\n)\n";

inline nlohmann::json tiny_word_piece_json() {
  return {{"added_tokens", {{{"id", 1}, {"content", "[UNK]"}, {"special", true}}}},
          {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}, {"strip_accents", nullptr}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", {{"[PAD]", 0}, {"[UNK]", 1}, {"a", 2}, {"##b", 3}}}}}};
}

// All tokens and what they decode to.
inline std::vector<std::string> all_tokens(const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  for (Token id = 0; id < tokenizer.size(); ++id)
    tokens.push_back(tokenizer.token(id) + "=" + tokenizer.decode(Sentence{id}));
  return tokens;
}

}  // namespace undertext
