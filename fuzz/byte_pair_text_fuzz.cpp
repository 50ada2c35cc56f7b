// Texts through byte pair encoding and back: nothing is lost, and what was no UTF-8 is replaced.
#include "base/error.h"
#include "fuzz/target.h"
#include "tests/text/tiny_tokenizers.h"
#include "text/restricted_tokenizer.h"
#include "text/utf8.h"

namespace undertext {

void try_input(std::string_view bytes) {
  static const auto tokenizer = tiny_byte_pairs(kHello);
  static const auto restricted = restrict_to(*tokenizer, std::vector<std::string>{"hell wor"}).tokenizer;
  const std::string expected = replace_invalid_utf8(bytes);
  for (const auto& each : {tokenizer, restricted}) {
    const Sentence tokens = each->encode(bytes);
    for (const Token id : tokens) UNDERTEXT_CHECK(id >= 0 && id < each->size());
    UNDERTEXT_CHECK(each->decode(tokens) == expected);
    UNDERTEXT_CHECK(each->encode(bytes) == tokens);  // now from the cache
  }
}

std::vector<std::string> seeds() {
  return {"hello world",       "it's  we'll\n\n x", "<|endoftext|>hello",           "\u4E16\u754C \U0001F600",
          "\xFF\xFE \xE4\xBD", "1234 \u00B2\u0660", std::string(200, 'l') + "hello"};
}

}  // namespace undertext
