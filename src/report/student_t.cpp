#include "report/student_t.h"

#include <cmath>

#include "base/error.h"

namespace undertext {
namespace {

// The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22), good for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kPrecise = 1e-15;
  constexpr int kMostSteps = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      step = c * d;
      fraction *= step;
    }
    if (std::abs(step - 1) < kPrecise) break;
  }
  return fraction;
}

// The regularized incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// P(|T| > t).
double both_tails(double degrees, double t) {
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

}  // namespace

double student_t_95(double degrees) {
  UNDERTEXT_CHECK(degrees >= 1);
  constexpr double kNormal = 1.959963984540054;  // the limit for many degrees
  if (degrees > 1e6) return kNormal;
  double low = 1, high = 20;  // 12.7 for one degree, less for more
  while (high - low > 1e-12) {
    const double middle = (low + high) / 2;
    (both_tails(degrees, middle) > 0.05 ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace undertext
