#include "attacks/decepticons/edges.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace undertext {

double normal_quantile(double p) {
  UNDERTEXT_CHECK(p > 0 && p < 1);
  // Bisection: erfc is monotone, and 60 halvings of [-40, 40] leave nothing to a double.
  double low = -40, high = 40;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<double> normal_edges(double mean, double deviation, std::int64_t bins) {
  constexpr double kFarBelow = 10;  // deviations
  std::vector<double> edges = {mean - kFarBelow * deviation};
  for (std::int64_t i = 1; i < bins; ++i)
    edges.push_back(mean + deviation * normal_quantile(static_cast<double>(i) / static_cast<double>(bins)));
  return edges;
}

}  // namespace undertext
