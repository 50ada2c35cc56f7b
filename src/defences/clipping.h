// Gradients cut down to a largest size, as differentially private training does before it adds noise.
#pragma once

#include "federated/defence.h"

namespace undertext {

// A client's whole gradient, all tensors together, scaled down to a Euclidean norm of `norm` where it is
// larger (Abadi et al., 2016; decepticons, figure 18: "clipped to a value of 1").
class Clipping : public ClientDefence {
 public:
  explicit Clipping(double norm);  // UserError unless norm is a positive number
  bool acts_on_gradient() const override { return true; }
  void on_gradient(NamedTensors& gradient, std::int64_t step) const override;
  void tell(KnownDefence& known, double texts) const override;

 private:
  double norm_;
};

}  // namespace undertext
