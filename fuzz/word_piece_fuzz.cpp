// WordPiece: a text and, after a NUL byte, the vocab.txt; without one the built-in vocabulary.
#include <algorithm>

#include "base/error.h"
#include "fuzz/target.h"
#include "tests/text/tiny_tokenizers.h"
#include "text/utf8.h"

namespace undertext {

void try_input(std::string_view bytes) {
  const std::size_t middle = bytes.find('\0');
  const bool given = middle != std::string_view::npos;
  const bool plain = bytes.starts_with('?');  // no rule at all
  BertRules rules;
  if (plain) rules = {false, false, false, false};
  const auto tokenizer =
      WordPieceTokenizer::parse(given ? bytes.substr(middle + 1) : std::string_view(kPieces), rules, "input");
  const std::string_view text = bytes.substr(0, middle);
  const Sentence tokens = tokenizer->encode(text);
  for (const Token id : tokens) UNDERTEXT_CHECK(id >= 0 && id < tokenizer->size());
  UNDERTEXT_CHECK(tokenizer->encode(text) == tokens);  // now from the cache
  UNDERTEXT_CHECK(!find_invalid_utf8(tokenizer->decode(tokens)));
}

std::vector<std::string> seeds() {
  return {"unaffable, running [MASK] CAF\u00C9", "?caf\u00E9 \u4E16 (run)",
          "a\x01\f\u200D \uFFFD\xFF \u0130\u03A3", std::string("ab c\0[UNK]\na\n##b\nc\n", 20),
          std::string(120, 'r')};
}

}  // namespace undertext
