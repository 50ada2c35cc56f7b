// A smaller dictionary (gboard-next-word, section 8): what is not in it, the client's model never meets.
#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// The texts with every word that is not among the vocabulary's first `words`, which are the most frequent
// ones, in place of which the unknown token stands. Special tokens stay. UserError where the tokenizer has no
// unknown token.
std::vector<Sentence> redacted(std::vector<Sentence> texts, std::int64_t words, const Tokenizer& tokenizer);

}  // namespace undertext
