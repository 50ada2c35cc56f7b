// Scaled dot-product attention with many heads, over sequences that lie end to end.
#pragma once

#include <cstdint>
#include <span>

#include "models/dropout.h"

namespace undertext {

struct Attention {
  std::int64_t heads, head_width;  // H, and D / H
  float scale;                     // of the scores
  bool causal;
  std::span<const std::int64_t> begin;  // sequence s is rows [begin[s], begin[s + 1])
  Dropout dropout;                      // on the weights

  std::int64_t width() const { return heads * head_width; }
};

// qkv: (rows, 3 D), queries, keys and values beside each other. out: (rows, D).
void attention(const Attention& attention, const float* qkv, float* out);

// The weights are computed again instead of being kept. d_qkv: (rows, 3 D), overwritten.
void attention_backward(const Attention& attention, const float* qkv, const float* d_out, float* d_qkv);

}  // namespace undertext
