// The pointwise part of an LSTM's step, there and back, for some rows of one block of kLanes units:
//   i, f, o = sigmoid, g = tanh of the gates' sums;   c = f c' + i g;   h = o tanh c
#pragma once

#include <cstdint>

namespace undertext {

// Rows of states lie U apart; each pointer stands at the block's first unit.
struct CellRows {
  std::int64_t rows, units;  // U, padded
  float* gates;              // i, f, g, o of the block: (rows, 4, lanes)
  const float* c_before;
  float* c;
  float* tanh_c;
};

// gates: the sums on the way in, i, f, g and o on the way out. Writes c, tanh c and h.
void gates_forward(const CellRows& cell, float* h);

// gates: i, f, g and o on the way in, the gradients of their sums on the way out. d_h: d loss / d h, rows
// `ld_h` apart. d_c: what later steps ask of c; becomes what this step asks of c'.
void gates_backward(const CellRows& cell, const float* d_h, std::int64_t ld_h, float* d_c);

}  // namespace undertext
