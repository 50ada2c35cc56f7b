// Noise added on the device: Gaussian (gboard-next-word, section 6) or Laplacian (decepticons, figure 18).
// Neither clips by itself: these are the papers' defences, not differentially private training.
#pragma once

#include "base/random.h"
#include "federated/defence.h"

namespace undertext {

enum class NoiseKind {
  gaussian,
  laplace
};  // its scale: the standard deviation; b, which is that over sqrt 2

// Algorithm 3 of gboard-next-word: noise on the gradient of every step, before the learning rate.
class NoisePerStep : public ClientDefence {
 public:
  // UserError unless scale is a finite number of at least 0.
  NoisePerStep(double scale, Seed seed, NoiseKind kind = NoiseKind::gaussian);
  bool acts_on_gradient() const override { return true; }
  void on_gradient(NamedTensors& gradient, std::int64_t step) const override;
  void tell(KnownDefence& known, double texts) const override;

 private:
  float scale_;
  Seed seed_;
  NoiseKind kind_;
};

// Algorithm 4: once, on what leaves the device.
class NoiseOnResult : public ClientDefence {
 public:
  NoiseOnResult(double scale, Seed seed, NoiseKind kind = NoiseKind::gaussian);
  void on_result(NamedTensors& result) const override;
  void tell(KnownDefence& known, double texts) const override;

 private:
  float scale_;
  Seed seed_;
  NoiseKind kind_;
};

}  // namespace undertext
