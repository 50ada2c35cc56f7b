// GPT-2's tokenizer: byte-level byte pair encoding.
#pragma once

#include <memory>
#include <utility>

#include "text/added_tokens.h"
#include "text/byte_pair_merger.h"
#include "text/token_index.h"
#include "text/tokenizer.h"
#include "text/word_cache.h"

namespace undertext {

// What the files of such a tokenizer say, unchecked.
struct BytePairParts {
  std::vector<std::string> tokens;  // by id, as files write them (byte_alphabet.h); added ones as they are
  std::vector<std::pair<std::string, std::string>> merges;  // earlier ones first
  std::vector<AddedToken> added;                            // ids within tokens
  // Some results of merges are no tokens; such a piece is given as the pieces it was merged from, down to
  // bytes.
  bool restricted = false;
};

class BytePairTokenizer : public Tokenizer {
 public:
  // source: what the errors name.
  BytePairTokenizer(BytePairParts parts, const std::string& source);

  std::int64_t size() const override { return static_cast<std::int64_t>(bytes_.size()); }
  SpecialTokens special() const override;
  Sentence encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::string token(Token id) const override { return written_.at(static_cast<std::size_t>(id)); }
  void save(const std::filesystem::path& folder) const override;  // tokenizer.json

  // Only the tokens `keep` says (one for each id), the 256 bytes and the added ones, renumbered in order.
  // Texts whose tokens are all kept are cut as before.
  std::shared_ptr<const BytePairTokenizer> restricted(const std::vector<bool>& keep) const;
  bool is_byte_or_added(Token id) const;

 private:
  void add_merges(const BytePairParts& parts, TokenIndex pieces, const std::string& source);
  void expand_dropped();
  void append_word(std::string_view word, Sentence& tokens) const;

  // Pieces are what merges make: first the tokens, by id, then those that a restriction dropped.
  std::vector<std::string> written_;  // by piece
  std::vector<std::string> bytes_;    // by token: what it decodes to
  std::vector<Sentence> dropped_;     // by piece - size(): the tokens that stand for it
  std::array<Token, 256> byte_tokens_{};
  AddedTokens added_;
  bool restricted_;
  std::unique_ptr<const BytePairMerger> merger_;
  mutable WordCaches caches_;
};

}  // namespace undertext
