// characters.json, and its own bytes as a text.
#include "base/error.h"
#include "fuzz/target.h"
#include "text/character_tokenizer.h"
#include "text/utf8.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const CharacterTokenizer tokenizer = CharacterTokenizer::parse(bytes, "input");
  const std::string text = tokenizer.decode(tokenizer.encode(bytes));
  UNDERTEXT_CHECK(!find_invalid_utf8(text));
  UNDERTEXT_CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
}

std::vector<std::string> seeds() {
  return {R"(["a", "b", "\u4e16", "\ufffd"])", R"(["\u0000", "\"", "\\", " "])", R"(["\ud83d\ude00"])"};
}

}  // namespace undertext
