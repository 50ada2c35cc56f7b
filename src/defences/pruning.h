// Gradient pruning (Zhu et al., 2019; film, section 6.3): the smallest numbers of a gradient stay at home.
#pragma once

#include "federated/defence.h"

namespace undertext {

enum class PruningScope {
  each,  // the share of every tensor
  all    // of all tensors together
};

// The share of the numbers that are smallest in magnitude is set to zero. Where numbers are as large as the
// smallest that stays, all of them stay.
class Pruning : public ClientDefence {
 public:
  // UserError unless share is in [0, 1).
  explicit Pruning(double share, PruningScope scope = PruningScope::each);
  bool acts_on_gradient() const override { return true; }
  void on_gradient(NamedTensors& gradient, std::int64_t step) const override;
  void tell(KnownDefence& known, double texts) const override;

 private:
  double share_;
  PruningScope scope_;
};

}  // namespace undertext
