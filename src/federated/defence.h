// The two places where a client-side defence can act during local training.
#pragma once

#include <cstdint>

#include "tensors/named_tensors.h"

namespace undertext {

class ClientDefence {
 public:
  virtual ~ClientDefence() = default;
  // Before the learning rate is applied; step counts from 0 over all epochs.
  virtual void on_gradient(NamedTensors& gradient, std::int64_t step) const { (void)gradient, (void)step; }
  // On the trained weights, before they leave the device.
  virtual void on_result(NamedTensors& weights) const { (void)weights; }
};

}  // namespace undertext
