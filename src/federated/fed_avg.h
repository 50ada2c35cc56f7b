// FedAvg: the mean of clients' weights, each counted by the size of its data (record-level, eq. 1; McMahan et
// al., 2017).
#pragma once

#include <cstdint>

#include "tensors/named_tensors.h"

namespace undertext {

// Whoever takes the mean of one round's clients. Takes one client's weights at a time, in an order that the
// caller keeps the same.
class Averaging {
 public:
  virtual ~Averaging() = default;
  // Before anything is added: what the clients of the round train, as the server sent it to them.
  virtual void start(const NamedTensors& global) { (void)global; }
  // All with the same names and shapes, of float32. size: |D_i|, at least 1.
  virtual void add(const NamedTensors& weights, std::int64_t size) = 0;
  // w = sum |D_i| w_i / sum |D_i|, rounded to float32 once. Empty where the model stays as it is.
  virtual NamedTensors mean() = 0;
};

// The server itself, which sees every client's weights. Adds in double; they need not all be in memory.
class FedAvg : public Averaging {
 public:
  void add(const NamedTensors& weights, std::int64_t size) override;
  NamedTensors mean() override;

 private:
  NamedTensors sum_;  // float64
  std::int64_t size_ = 0;
};

}  // namespace undertext
