#include "attacks/film/written_tokens.h"

#include "text/utf8.h"

namespace undertext {
namespace {

template <typename Test>
std::vector<Token> tokens_where(const Tokenizer& tokenizer, Test test) {
  std::vector<Token> tokens;
  for (Token id = 0; id < tokenizer.size(); ++id)
    if (test(tokenizer.decode(std::span(&id, 1)))) tokens.push_back(id);
  return tokens;
}

bool begins_with_capital(std::string_view text) {
  std::size_t at = 0;
  while (const auto character = decode_utf8(text, at)) {
    if (!is_white_space(character->value)) return lower_latin(character->value) != character->value;
    at += character->bytes;
  }
  return false;
}

}  // namespace

std::vector<Token> tokens_that_begin_sentences(const Tokenizer& tokenizer) {
  return tokens_where(tokenizer, begins_with_capital);
}

std::vector<Token> tokens_that_end_sentences(const Tokenizer& tokenizer) {
  return tokens_where(tokenizer,
                      [](std::string_view text) { return text.find_first_of(".?!") != text.npos; });
}

}  // namespace undertext
