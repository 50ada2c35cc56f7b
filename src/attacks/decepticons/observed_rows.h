// What the feed-forward parts of a corrupted state bring back: differences of neighbouring rows, each the sum
// over the tokens whose measurement fell between two edges (decepticons, equation 3).
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "federated/observation.h"
#include "models/transformer/transformer.h"

namespace undertext {

struct ObservedRows {
  std::int64_t bins = 0;        // of each layer
  Matrix<float> rows;           // (layers * bins, D): sums of amount times what the layer read
  std::vector<double> amounts;  // the same sums of the amounts alone, from the biases

  std::int64_t layer_of(std::int64_t row) const { return row / bins; }
  std::int64_t bin_of(std::int64_t row) const { return row % bins; }
  std::int64_t count() const { return rows.rows; }
};

// A layer's last row counts as it is: nothing lies above it.
ObservedRows observed_rows(const Observation& observation, const Transformer& model, std::int64_t layers);

// A parameter's gradient of one step, in single precision; undefined where the update does not hold it.
at::Tensor observed_gradient(const Observation& observation, const std::string& parameter);

}  // namespace undertext
