// How alike two sentences are, by the edits that turn one into the other.
#pragma once

#include <cstdint>
#include <span>

#include "text/tokenizer.h"

namespace undertext {

// Least number of words to insert, delete or replace; O(|a| |b|).
std::int64_t levenshtein(std::span<const Token> a, std::span<const Token> b);

// Length of the longest common subsequence; O(|a| |b|).
std::int64_t longest_common_subsequence(std::span<const Token> a, std::span<const Token> b);

// 100 (1 - levenshtein / longer length): 100 for equal sentences (two empty ones are equal), 0 without a
// word in common.
double word_ratio(std::span<const Token> a, std::span<const Token> b);

// The ratio of the published experiments (gboard-next-word, section 4.2). Each distinct word is written as
// one character and the characters are joined by spaces; the ratio is 2 LCS(s, t) / (|s| + |t|) in rounded
// per cent. The spaces match too: two sentences of four words without a common word score 43.
double paper_ratio(std::span<const Token> a, std::span<const Token> b);

}  // namespace undertext
