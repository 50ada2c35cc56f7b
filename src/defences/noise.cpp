#include "defences/noise.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace undertext {
namespace {

float checked(double scale, const char* which) {
  // Beyond float32's range of squares nothing of the model would be left.
  if (!(scale >= 0 && scale < 1e18))
    fail("noise {}: {} given, expected a number of at least 0", which, scale);
  return static_cast<float>(scale);
}

// A seed per tensor, by name: the noise depends neither on the order of tensors nor on which others there
// are.
void add_noise(NamedTensors& tensors, float scale, Seed seed, NoiseKind kind) {
  const auto add = kind == NoiseKind::laplace ? add_laplace_noise : add_normal_noise;
  for (auto& [name, tensor] : tensors)
    add(seed.derive(name), scale, tensor.data_ptr<float>(), tensor.numel());
}

double deviation_of(float scale, NoiseKind kind) {
  return kind == NoiseKind::laplace ? std::numbers::sqrt2 * scale : scale;
}

}  // namespace

NoisePerStep::NoisePerStep(double scale, Seed seed, NoiseKind kind)
    : scale_(checked(scale, "per step")), seed_(seed.derive("noise per step")), kind_(kind) {}

void NoisePerStep::on_gradient(NamedTensors& gradient, std::int64_t step) const {
  add_noise(gradient, scale_, seed_.derive(static_cast<std::uint64_t>(step)), kind_);
}

void NoisePerStep::tell(KnownDefence& known, double texts) const {
  (void)texts;  // it is added to what is left after averaging
  known.noise_per_step = std::hypot(known.noise_per_step, deviation_of(scale_, kind_));
}

NoiseOnResult::NoiseOnResult(double scale, Seed seed, NoiseKind kind)
    : scale_(checked(scale, "on the result")), seed_(seed.derive("noise on the result")), kind_(kind) {}

void NoiseOnResult::on_result(NamedTensors& result) const {
  add_noise(result, scale_, seed_, kind_);
}

void NoiseOnResult::tell(KnownDefence& known, double texts) const {
  (void)texts;
  known.noise_on_result = std::hypot(known.noise_on_result, deviation_of(scale_, kind_));
}

}  // namespace undertext
