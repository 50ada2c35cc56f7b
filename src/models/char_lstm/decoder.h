// The decoder of a character LSTM with softmax and cross-entropy. Vocabularies of characters are small:
// logits of a block of rows stay in the cache between the product, the softmax and the way back.
#pragma once

#include <cstdint>
#include <span>

#include "models/char_lstm/packed_weights.h"
#include "models/workspace.h"
#include "text/tokenizer.h"

namespace undertext {

// h: (rows, U). Writes log p of each row's target. d_logits (rows, V padded): becomes weight (p - target) of
// each row, zero beyond V; null: not wanted. d_h (rows, U): that times the decoder's weight.
struct Decoding {
  const float* h;
  std::span<const Token> target;
  double* log_probability;
  std::span<const float> weight;  // by row; only with d_logits
  float* d_logits = nullptr;
  float* d_h = nullptr;
};

void decode(const PackedWeights& weights, const Decoding& rows, Buffer& scratch);

}  // namespace undertext
