#include "defences/redaction.h"

#include "base/error.h"

namespace undertext {

std::vector<Sentence> redacted(std::vector<Sentence> texts, std::int64_t words, const Tokenizer& tokenizer) {
  const SpecialTokens special = tokenizer.special();
  if (!special.unknown)
    fail("vocabulary: the tokenizer has no token for unknown words, expected one that words can become");
  for (Sentence& text : texts)
    for (Token& token : text)
      if (token >= words && token != special.start && token != special.end) token = *special.unknown;
  return texts;
}

}  // namespace undertext
