// What a transformer reads and what it is to predict, made from a sentence.
#pragma once

#include <span>
#include <vector>

#include "base/random.h"
#include "text/tokenizer.h"

namespace undertext {

inline constexpr Token kNoTarget = -1;

struct Example {
  Sentence input;
  Sentence target;  // as long: what is predicted at each place, or kNoTarget
};

// Every token from those before it: the target is the input, one place earlier.
Example next_word_example(std::span<const Token> sentence);

// Devlin et al. (2019), section 3.1: 15 of 100 tokens (at least one) are to be predicted; of these 80 of 100
// are hidden behind `mask`, 10 replaced by any token of the vocabulary and 10 left as they are.
Example masked_word_example(std::span<const Token> sentence, Token mask, std::int64_t vocabulary, Seed seed);

}  // namespace undertext
