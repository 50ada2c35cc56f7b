#include "defences/accountant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace undertext {
namespace {

constexpr int kOrders[] = {2,  3,  4,  5,  6,  7,  8,  9,  10, 11,  12,  14,  16,  18, 20,
                           24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 384, 512};

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// log of sum_k binomial(order, k) (1 - q)^(order - k) q^k exp((k^2 - k) / (2 sigma^2)).
double log_moment(int order, double q, double sigma) {
  const double a = order;
  if (q >= 1) return (a * a - a) / (2 * sigma * sigma);
  double total = -std::numeric_limits<double>::infinity();
  for (int i = 0; i <= order; ++i) {
    const double k = i;
    const double log_binomial = std::lgamma(a + 1) - std::lgamma(k + 1) - std::lgamma(a - k + 1);
    total = log_sum(
        total, log_binomial + k * std::log(q) + (a - k) * std::log1p(-q) + (k * k - k) / (2 * sigma * sigma));
  }
  return total;
}

}  // namespace

double epsilon_of(const PrivateSteps& steps) {
  UNDERTEXT_CHECK(steps.share > 0 && steps.share <= 1 && steps.steps >= 0 && steps.delta > 0 &&
                  steps.delta < 1 && steps.sigma >= 0);
  double least = std::numeric_limits<double>::infinity();
  if (steps.sigma == 0) return least;
  for (const int order : kOrders) {
    const double renyi =
        static_cast<double>(steps.steps) * log_moment(order, steps.share, steps.sigma) / (order - 1);
    least = std::min(least, renyi - std::log(steps.delta) / (order - 1));
  }
  return least;
}

}  // namespace undertext
