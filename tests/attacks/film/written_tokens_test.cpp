#include "attacks/film/written_tokens.h"

#include <gtest/gtest.h>

#include "text/vocabulary.h"

namespace undertext {
namespace {

std::vector<std::string> written(const Tokenizer& tokenizer, const std::vector<Token>& tokens) {
  std::vector<std::string> texts;
  for (const Token token : tokens) texts.push_back(tokenizer.token(token));
  return texts;
}

TEST(WrittenTokens, BeginAndEndSentences) {
  const Vocabulary words(
      {"</S>", "<S>", "<UNK>", "The", "the", "Øst", "øst", "mR", "I", "3M", "mr.", "3.5", "Who?", "!", ","});
  EXPECT_EQ(written(words, tokens_that_begin_sentences(words)),
            (std::vector<std::string>{"The", "Øst", "I", "Who?"}));
  EXPECT_EQ(written(words, tokens_that_end_sentences(words)),
            (std::vector<std::string>{"mr.", "3.5", "Who?", "!"}));
}

}  // namespace
}  // namespace undertext
