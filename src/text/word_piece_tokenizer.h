// BERT's tokenizer: WordPiece.
#pragma once

#include <memory>

#include "text/added_tokens.h"
#include "text/bert_words.h"
#include "text/byte_trie.h"
#include "text/tokenizer.h"
#include "text/word_cache.h"

namespace undertext {

// What the files of such a tokenizer say, unchecked.
struct WordPieceParts {
  std::vector<std::string> tokens = {};  // by id; ##x continues a word
  std::vector<AddedToken> added = {};    // ids within tokens
  BertRules rules = {};
  std::string unknown = "[UNK]";    // must be among the tokens
  std::int64_t longest_word = 100;  // characters; a longer word is unknown
};

class WordPieceTokenizer : public Tokenizer {
 public:
  // source: what the errors name.
  WordPieceTokenizer(WordPieceParts parts, const std::string& source);

  // vocab.txt's content; the five special tokens of BERT are found in texts where the vocabulary has them.
  static std::shared_ptr<const WordPieceTokenizer> parse(std::string_view vocabulary, BertRules rules,
                                                         const std::string& source);

  std::int64_t size() const override { return static_cast<std::int64_t>(tokens_.size()); }
  SpecialTokens special() const override;
  Sentence encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;  // ## joined, no space before a comma
  std::string token(Token id) const override { return tokens_.at(static_cast<std::size_t>(id)); }
  void save(const std::filesystem::path& folder) const override;  // tokenizer.json

  // Only the tokens `keep` says (one for each id), their single characters and the special ones, renumbered
  // in order. Texts whose tokens are all kept are cut as before: the longest piece that fits is still there.
  std::shared_ptr<const WordPieceTokenizer> restricted(const std::vector<bool>& keep) const;

 private:
  void append_word(const std::string& word, Sentence& tokens) const;

  std::vector<std::string> tokens_;
  AddedTokens added_;
  BertWords words_;
  std::int64_t longest_word_;
  Token unknown_ = 0;
  ByteTrie first_, rest_;  // pieces that start a word, and those that continue one, without ##
  mutable WordCaches caches_;
};

}  // namespace undertext
