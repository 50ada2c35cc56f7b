// tokenizer.json of both kinds.
#include "base/error.h"
#include "fuzz/target.h"
#include "tests/text/tiny_tokenizers.h"
#include "text/utf8.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const auto tokenizer = parse_tokenizer_json(bytes, "input");
  const Sentence tokens = tokenizer->encode("hello world ab <|endoftext|> [UNK]");
  for (const Token id : tokens) UNDERTEXT_CHECK(id >= 0 && id < tokenizer->size());
  UNDERTEXT_CHECK(!find_invalid_utf8(tokenizer->decode(tokens)));
  for (Token id = 0; id < tokenizer->size(); ++id) UNDERTEXT_CHECK(!find_invalid_utf8(tokenizer->token(id)));
}

std::vector<std::string> seeds() {
  nlohmann::json restricted = tiny_tokenizer_json();
  restricted["restricted"] = true;
  restricted["model"]["merges"].push_back({"ld", "ld"});
  return {tiny_tokenizer_json().dump(), tiny_word_piece_json().dump(), restricted.dump()};
}

}  // namespace undertext
