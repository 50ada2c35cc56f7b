// Which token stands in each slot, once its place is known.
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "text/tokenizer.h"

namespace undertext {

// Tokens that may be used, each as often as its count says.
struct TokenBag {
  std::vector<Token> ids;            // distinct
  std::vector<std::int64_t> counts;  // their sum is at least the number of slots
};

// A token embedding, of which columns [first, last) count.
struct EmbeddingView {
  const float* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t first = 0, last = 0;
};

// decepticons, section 3.1, "converting embeddings to tokens": one assignment of all slots to the bag by
// correlation. contents: (slots, last - first), standardised. Where `whole` times the best correlation with
// any token of the vocabulary is more than that with the token of the bag, that token stands instead; 0:
// never.
std::vector<Token> match_tokens(const Matrix<float>& contents, const TokenBag& bag,
                                const EmbeddingView& embedding, float whole);

}  // namespace undertext
