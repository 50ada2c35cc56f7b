// Gaussian noise added on the device (gboard-next-word, section 6). Neither algorithm clips: these are the
// paper's defences, not differentially private training.
#pragma once

#include "base/random.h"
#include "federated/defence.h"

namespace undertext {

// Algorithm 3: N(0, sigma) on the gradient of every step, before the learning rate.
class NoisePerStep : public ClientDefence {
 public:
  NoisePerStep(double sigma, Seed seed);  // UserError unless sigma is a finite number of at least 0
  bool acts_on_gradient() const override { return true; }
  void on_gradient(NamedTensors& gradient, std::int64_t step) const override;

 private:
  float sigma_;
  Seed seed_;
};

// Algorithm 4: N(0, sigma) once, on what leaves the device.
class NoiseOnResult : public ClientDefence {
 public:
  NoiseOnResult(double sigma, Seed seed);
  void on_result(NamedTensors& result) const override;

 private:
  float sigma_;
  Seed seed_;
};

}  // namespace undertext
