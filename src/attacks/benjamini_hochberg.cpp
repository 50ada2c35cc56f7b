#include "attacks/benjamini_hochberg.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/quantile.h"

namespace undertext {

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double benjamini_hochberg(std::vector<double> p, double q) {
  std::sort(p.begin(), p.end());
  const double m = static_cast<double>(p.size());
  for (std::size_t i = p.size(); i > 0; --i)
    if (p[i - 1] <= q * static_cast<double>(i) / m) return p[i - 1];
  return -1;
}

Crowd lower_half_crowd(const std::vector<double>& values) {
  const double median = quantile(values, 0.5);
  return {median, (median - quantile(values, 0.25)) / 0.6745};
}

}  // namespace undertext
