#include "text/number_tokenizer.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace undertext {

Sentence NumberTokenizer::encode(std::string_view text) const {
  constexpr std::string_view kSpace = " \t\r\n";
  Sentence tokens;
  for (std::size_t at = text.find_first_not_of(kSpace); at != text.npos;
       at = text.find_first_not_of(kSpace, at)) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    Token token = -1;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    if (error != std::errc() || rest != word.data() + word.size() || token < 0 || token >= size_)
      fail("the model has no tokenizer, and {} is no number from 0 to {}: expected token ids", quote(word),
           size_ - 1);
    tokens.push_back(token);
    at = end;
  }
  return tokens;
}

std::string NumberTokenizer::decode(std::span<const Token> tokens) const {
  return fmt::format("{}", fmt::join(tokens, " "));
}

}  // namespace undertext
