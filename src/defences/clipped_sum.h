// What the clients of a round add to the global model, each cut to the same length: the part that user-level
// differential privacy has in common, however its noise comes about.
#pragma once

#include "tensors/named_tensors.h"

namespace undertext {

class ClippedSum {
 public:
  // norm: the largest Euclidean length, over all tensors together, of one client's update. UserError unless
  // it is a positive number.
  explicit ClippedSum(double norm);
  // Before the first: what clients train, as it was sent to them; float32.
  void start(const NamedTensors& global);
  // A client's weights: adds (w_i - w) min(1, norm / |w_i - w|). UserError where it is not finite.
  void add(const NamedTensors& weights);
  // float64, for noise to be added to.
  NamedTensors& sum() { return sum_; }
  // The global model and 1 / clients of the sum, in float32.
  NamedTensors model(double clients) const;

 private:
  double norm_;
  NamedTensors global_, sum_;
};

}  // namespace undertext
