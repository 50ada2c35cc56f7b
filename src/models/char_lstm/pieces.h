// Sentences in pieces that are read at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/char_lstm/config.h"
#include "text/tokenizer.h"

namespace undertext {

// The indices of all sentences that predict something, the longest first, in pieces of like lengths: so large
// that products with few rows do not cost, so small that what a pass keeps stays in the cache or, for large
// models, in memory. `most`: characters that are read of a sentence at once. Depends on the sentences alone.
std::vector<std::vector<std::size_t>> pieces_of(std::span<const Sentence> sentences,
                                                const CharLstmConfig& config, std::size_t most);

}  // namespace undertext
