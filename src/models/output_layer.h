// Output layer, softmax and cross-entropy in one: logits live only as exponentials of one block of contexts,
// which become probabilities and then the gradient in place. Nothing of size (words, V) outlives a block.
#pragma once

#include <cstdint>

#include "models/targets.h"
#include "models/workspace.h"

namespace undertext {

struct OutputWeights {
  std::int64_t vocabulary, embedding;  // V, E
  const float* weight;                 // (V, E)
  const float* bias;                   // (V); null: none
};

// Where the gradient of sum_{row, word} count * -log p(word | row) goes. May be the weights themselves
// (a fused step of gradient descent) as long as there are at most rows_per_block(V) rows.
struct OutputGradient {
  float* h;       // (rows, E), overwritten, not scaled
  float* weight;  // (V, E), added to, times scale; null: not wanted
  float* bias;    // (V), likewise
  double scale;
};

struct OutputWorkspace {
  Buffer exponentials, maxima, sums, h_parts;
};

// Contexts handled at once: bounds the workspace, about rows * V floats.
std::int64_t rows_per_block(std::int64_t vocabulary);

// h: (rows, E), one row per context. Writes log p of each of the targets, and the gradient when it is asked
// for.
void output_layer(const OutputWeights& output, const float* h, const Targets& targets,
                  double* log_probability, const OutputGradient* gradient, OutputWorkspace& workspace);

// Writes log sum_k exp(logit of word k) after each of `rows` contexts, from which a word's log-probability is
// its logit away. No logits outlive a block of words.
void log_normalisers(const OutputWeights& output, const float* h, std::int64_t rows, double* log_total,
                     OutputWorkspace& workspace);

}  // namespace undertext
