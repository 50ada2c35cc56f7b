// FedAvg: the mean of clients' weights, each counted by the size of its data (record-level, eq. 1; McMahan et
// al., 2017).
#pragma once

#include <cstdint>

#include "tensors/named_tensors.h"

namespace undertext {

// Takes one client's weights at a time, so that they need not all be in memory; adds in double, in the order
// in which they come, which the caller keeps the same.
class FedAvg {
 public:
  // All with the same names and shapes, of float32. size: |D_i|, at least 1.
  void add(const NamedTensors& weights, std::int64_t size);
  // w = sum |D_i| w_i / sum |D_i|, rounded to float32 once. Empty where nothing was added.
  NamedTensors mean() const;

 private:
  NamedTensors sum_;  // float64
  std::int64_t size_ = 0;
};

}  // namespace undertext
