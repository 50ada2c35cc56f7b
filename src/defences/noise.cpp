#include "defences/noise.h"

#include <cmath>

#include "base/error.h"

namespace undertext {
namespace {

float checked(double sigma, const char* which) {
  // Beyond float32's range of squares nothing of the model would be left.
  if (!(sigma >= 0 && sigma < 1e18))
    fail("noise {}: {} given, expected a number of at least 0", which, sigma);
  return static_cast<float>(sigma);
}

// A seed per tensor, by name: the noise depends neither on the order of tensors nor on which others there
// are.
void add_noise(NamedTensors& tensors, float sigma, Seed seed) {
  for (auto& [name, tensor] : tensors)
    add_normal_noise(seed.derive(name), sigma, tensor.data_ptr<float>(), tensor.numel());
}

}  // namespace

NoisePerStep::NoisePerStep(double sigma, Seed seed)
    : sigma_(checked(sigma, "per step")), seed_(seed.derive("noise per step")) {}

void NoisePerStep::on_gradient(NamedTensors& gradient, std::int64_t step) const {
  add_noise(gradient, sigma_, seed_.derive(static_cast<std::uint64_t>(step)));
}

NoiseOnResult::NoiseOnResult(double sigma, Seed seed)
    : sigma_(checked(sigma, "on the result")), seed_(seed.derive("noise on the result")) {}

void NoiseOnResult::on_result(NamedTensors& result) const {
  add_noise(result, sigma_, seed_);
}

}  // namespace undertext
