// A tokenizer for a model that has more rows than there are tokens.
#pragma once

#include <memory>

#include "text/tokenizer.h"

namespace undertext {

// Models often have a round number of rows. No text is encoded to the ids beyond the tokens, but an attack
// may find one: it is shown as <unused N> and decoded as U+FFFD.
class PaddedTokenizer : public Tokenizer {
 public:
  PaddedTokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t size);  // size: at least its own

  std::int64_t size() const override { return size_; }
  SpecialTokens special() const override { return tokenizer_->special(); }
  Sentence encode(std::string_view text) const override { return tokenizer_->encode(text); }
  std::string decode(std::span<const Token> tokens) const override;
  std::string token(Token id) const override;
  void save(const std::filesystem::path& folder) const override { tokenizer_->save(folder); }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::int64_t size_;
};

}  // namespace undertext
