// A model as a graph of torch operations on soft inputs, which attacks differentiate twice: once by the
// parameters, and the distance of that gradient to an observed one by the inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensors/named_tensors.h"

namespace undertext {

class SoftModel {
 public:
  virtual ~SoftModel() = default;

  // inputs: (B, T, D), the token embeddings that are read; returns the logits after each, (B, T, V).
  // parameters: by name, as the model's own; those that ask for gradients get them.
  virtual at::Tensor logits(const NamedTensors& parameters, const at::Tensor& inputs) const = 0;

  // Whether the T places predict T words that follow a start token (the keyboard), the inputs being start
  // token and words but the last; else T - 1 places predict the next of the T words read (next-word models),
  // or each place its own (masked ones).
  enum class Alignment { after_start, next, same };
  virtual Alignment alignment() const = 0;
  // Whether a place sees only what came before: the last word read then has no gradient.
  virtual bool causal() const = 0;
};

}  // namespace undertext
