// The way back through the CIFG cell of each sentence on its own, after a pass there that they share: what
// each sentence alone asks of the cell, from which the norms of their own gradients follow.
#pragma once

#include <cstdint>
#include <span>

#include "models/cifg_cell.h"

namespace undertext {

// The contexts of a sentence's words as rows of the tree, and the number of its first word among all words.
struct Chain {
  std::span<const std::int32_t> rows;
  std::int64_t first_word = 0;
};

struct ChainGradients {
  float* d_h;      // (words, E): what the output layer asks, changed into all that is asked of h
  float* d_gates;  // (words, 3U), written: of the pre-activations
};

void backward_alone(const CellWeights& weights, const CellStates& states, std::span<const Chain> chains,
                    const ChainGradients& gradients);

}  // namespace undertext
