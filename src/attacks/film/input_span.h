// What a linear layer was given, from the gradient of its weight.
//
// That gradient is a sum of dyads, input (x) gradient by the output, over the places of all texts. So
// whatever entered the layer lies in the space that its columns span, and nothing else does as long as that
// space is not the whole one.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "base/matrix.h"

namespace undertext {

class InputSpan {
 public:
  // gradient: (in, out), double. rounding: of each entry, where it is known to be more than float32's own.
  explicit InputSpan(const at::Tensor& gradient, double rounding = 0);

  std::int64_t rank() const { return width_ - outside_.cols; }
  // All inputs fit, or nearly all, or noise hides which do: it tells nothing.
  bool whole() const { return outside_.cols < kLeastOutside; }
  // Which rows of x lie inside, up to rounding. Most of them must not: how far these lie outside tells what
  // counts as far.
  std::vector<char> inside(const Matrix<float>& x) const;

 private:
  static constexpr std::int64_t kLeastOutside = 4;

  std::int64_t width_;
  Matrix<float> outside_;  // (in, directions): a basis of what the inputs do not reach
};

}  // namespace undertext
