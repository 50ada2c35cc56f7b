#include "text/padded_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace undertext {

PaddedTokenizer::PaddedTokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::int64_t size)
    : tokenizer_(std::move(tokenizer)), size_(size) {
  UNDERTEXT_CHECK(tokenizer_->size() <= size_);
}

std::string PaddedTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  while (!tokens.empty()) {
    const auto unused =
        std::find_if(tokens.begin(), tokens.end(), [&](Token id) { return id >= tokenizer_->size(); });
    const auto used = static_cast<std::size_t>(unused - tokens.begin());
    text += tokenizer_->decode(tokens.first(used));
    if (used < tokens.size()) text += "\uFFFD";
    tokens = tokens.subspan(std::min(used + 1, tokens.size()));
  }
  return text;
}

std::string PaddedTokenizer::token(Token id) const {
  UNDERTEXT_CHECK(id < size_);
  return id < tokenizer_->size() ? tokenizer_->token(id) : fmt::format("<unused {}>", id);
}

}  // namespace undertext
