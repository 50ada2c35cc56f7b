// Tokens as their numbers, for models whose tokenizer is not there.
#pragma once

#include "text/tokenizer.h"

namespace undertext {

class NumberTokenizer : public Tokenizer {
 public:
  explicit NumberTokenizer(std::int64_t size) : size_(size) {}

  std::int64_t size() const override { return size_; }
  SpecialTokens special() const override { return {}; }
  // Numbers between spaces; UserError for anything else.
  Sentence encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::string token(Token id) const override { return std::to_string(id); }
  void save(const std::filesystem::path&) const override {}  // its absence is what it is loaded from

 private:
  std::int64_t size_;
};

}  // namespace undertext
