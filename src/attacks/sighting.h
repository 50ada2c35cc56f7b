// Finds the contexts of words that were typed once.
//
// Such a word's row is, but for what the estimate of the predictions is wrong by, the hidden vector of one
// context. A wide beam of contexts is read, with nothing fitted, and compared with all these vectors: one
// that agrees in every entry proves the edge from it to the word, and every edge on the way to it. From
// contexts in the beam, what a vector says of its last words (last_words) leads to the one that is looked
// for.
#pragma once

#include <span>
#include <vector>

#include "attacks/context_table.h"

namespace undertext {

struct SightingInputs {
  const Matrix<float>& rows;      // what is left of the words' rows (sketch rows, D)
  std::span<const Token> bag;     // words whose row is not explained
  const Matrix<float>& filter;    // see evidence_filter
  std::span<const NodeId> known;  // contexts that surely occurred, with all their ancestors
  double sentences;               // how many there are, roughly
};

// The edges that were proven: children of contexts that had a word's vector, each taken once.
std::vector<NodeId> sight(ContextTable& table, const SightingInputs& inputs);

}  // namespace undertext
