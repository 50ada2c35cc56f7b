#include "report/student_t.h"

#include <cmath>

#include "base/error.h"
#include "base/incomplete_beta.h"

namespace undertext {
namespace {

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
