// The recurrent part of the CIFG LSTM on a tree of prefixes: forward, and backward by hand.
//   f, g, o = sigmoid, tanh, sigmoid of W_ih x + W_hh h' + b;  c = f c' + (1 - f) g;  h = P (o tanh c) + q
// Products are done once per distinct input: W_ih x per distinct token, W_hh h' per prefix that is read on
// from. Threads take blocks of units, whose number is fixed, so that results do not depend on theirs.
#pragma once

#include <cstdint>
#include <span>

#include "models/prefix_tree.h"
#include "models/workspace.h"

namespace undertext {

struct CellWeights {
  std::int64_t embedding, units;  // E, U
  const float* token_embedding;   // (V, E)
  const float* weight_ih;         // (3U, E), gates forget, cell, output
  const float* weight_hh;         // (3U, E)
  const float* bias;              // (3U)
  const float* projection;        // (E, U)
  const float* projection_bias;   // (E)
};

// Added to, times scale; null: not wanted. May be the weights themselves.
struct CellGradient {
  float* token_embedding = nullptr;
  float* weight_ih = nullptr;
  float* weight_hh = nullptr;
  float* bias = nullptr;
  float* projection = nullptr;
  float* projection_bias = nullptr;
  double scale = 1;
};

struct CellWorkspace {
  Buffer inputs, input_gates, recurrent_gates, gates, c, tanh_c, y, h, inner_h, parts, zeros;
  Buffer d_h, d_y, d_c, d_inputs, d_input_gates, d_recurrent_gates;
};

// What a pass leaves of each row of the tree.
struct CellStates {
  const float *gates, *c, *tanh_c, *y, *h;  // (rows, 3U), (rows, U) each, (rows, E); y = o tanh c
};

class CifgCell {
 public:
  CifgCell(const CellWeights& weights, const PrefixTree& tree, CellWorkspace& workspace);

  // h after each context of the tree, (rows, E), in the workspace.
  const float* forward();
  CellStates states() const { return {gates_, c_, tanh_c_, y_, h_}; }
  // d_h: (rows, E), d loss / d h from the output layer; changed into the full gradient.
  void backward(float* d_h, const CellGradient& gradient);

 private:
  void forward_depth(std::int64_t depth);
  void backward_depth(std::int64_t depth, float* d_h);

  const CellWeights& w_;
  const PrefixTree& tree_;
  CellWorkspace& workspace_;
  std::int64_t width_, blocks_;        // blocks of units
  float *inputs_, *input_gates_;       // (slots, E), (slots, 3U)
  float *inner_h_, *recurrent_gates_;  // (inner, E), (inner, 3U)
  float *gates_, *c_, *tanh_c_, *y_;   // (rows, 3U), (rows, U) each; y = o tanh c
  float *h_, *parts_;                  // (rows, E), (blocks, rows of a depth, E)
  const float* zeros_;                 // (3U): what <S> has in place of a predecessor
  float *d_y_, *d_c_, *d_input_gates_, *d_recurrent_gates_;
};

// One token appended to each of n states: h (n, E) and c (n, U) from h_before and c_before.
void read_token(const CellWeights& weights, std::span<const Token> tokens, const float* h_before,
                const float* c_before, float* h, float* c);

}  // namespace undertext
