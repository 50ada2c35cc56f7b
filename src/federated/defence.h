// The places where a client-side defence can act during local training.
#pragma once

#include <cstdint>
#include <limits>

#include "federated/known_defence.h"
#include "models/perturbation.h"
#include "tensors/named_tensors.h"

namespace undertext {

class ClientDefence {
 public:
  virtual ~ClientDefence() = default;
  // Adds to what the client's model does to itself while it trains. UserError where another defence of the
  // client did the same.
  virtual void on_perturbation(Perturbation& perturbation) const { (void)perturbation; }
  // Deviation of Gaussian noise that every step adds to the weights of the token embedding, where it stays.
  virtual double embedding_drift() const { return 0; }
  // The largest norm of one sentence's own gradient (of its loss, reduced over its own words), over all that
  // is trained; longer ones are scaled down to it before they are added up. Infinite: as they are.
  virtual double sentence_bound() const { return std::numeric_limits<double>::infinity(); }
  // With a bound: on the sum of the sentences' gradients, before a mean divides it by their number.
  virtual void on_sum(NamedTensors& sum, std::int64_t step) const { (void)sum, (void)step; }
  // Whether on_gradient does anything. Where no defence asks for the gradient, it is never written out.
  virtual bool acts_on_gradient() const { return false; }
  // Before the learning rate is applied; step counts from 0 over all epochs.
  virtual void on_gradient(NamedTensors& gradient, std::int64_t step) const { (void)gradient, (void)step; }
  // On what is about to leave the device: the trained weights, or the gradient where that is sent.
  virtual void on_result(NamedTensors& result) const { (void)result; }
  // Adds what the protocol says of it. texts: those of a step over which its gradient is averaged; 1: summed.
  virtual void tell(KnownDefence& known, double texts) const { (void)known, (void)texts; }
};

}  // namespace undertext
