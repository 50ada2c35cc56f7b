// The words that GPT-2 cuts a text into before it looks for pairs of bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/unicode_traits.h"

namespace undertext {

// Where the word that starts at text[begin] ends: the match there of
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// A byte that is not part of UTF-8 counts as neither letter, number nor space. Every byte of a text belongs
// to one word.
std::size_t gpt2_word_end(std::string_view text, std::size_t begin, const UnicodeTraits& traits);

}  // namespace undertext
