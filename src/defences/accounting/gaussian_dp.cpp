#include "defences/accounting/gaussian_dp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace undertext {
namespace {

double normal_below(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// log Phi(x), also far out, where Phi is zero in a double.
double log_normal_below(double x) {
  if (x > -35) return std::log(normal_below(x));
  const double s = 1 / (x * x);
  return -0.5 * x * x - std::log(-x) - 0.5 * std::log(2 * std::numbers::pi) + std::log1p(-s + 3 * s * s);
}

}  // namespace

double gaussian_mu(std::span<const NoisySteps> composition) {
  check_steps(composition);
  double squared = 0;
  for (const NoisySteps& part : composition) {
    if (part.steps == 0) continue;
    if (part.sigma == 0) return std::numeric_limits<double>::infinity();
    const double s = part.sigma, steps = static_cast<double>(part.steps);
    squared += part.rate == 1 ? steps / (s * s) : part.rate * part.rate * steps * std::expm1(1 / (s * s));
  }
  return std::sqrt(squared);
}

bool gaussian_mu_exact(std::span<const NoisySteps> composition) {
  return std::ranges::all_of(composition, [](const NoisySteps& part) { return part.rate == 1; });
}

double gaussian_delta(double mu, double epsilon) {
  if (mu == 0) return 0;
  return normal_below(-epsilon / mu + mu / 2) - std::exp(epsilon + log_normal_below(-epsilon / mu - mu / 2));
}

double gaussian_epsilon(double mu, double delta) {
  check_delta(delta);
  if (std::isinf(mu)) return mu;
  if (gaussian_delta(mu, 0) <= delta) return 0;
  double low = 0, high = 1;
  while (gaussian_delta(mu, high) > delta) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (gaussian_delta(mu, middle) > delta ? low : high) = middle;
  }
  return high;
}

}  // namespace undertext
