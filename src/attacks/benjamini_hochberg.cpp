#include "attacks/benjamini_hochberg.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace undertext {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double below = values[static_cast<std::size_t>(low)];
  if (static_cast<double>(low) == at) return below;
  const double above = *std::min_element(values.begin() + low + 1, values.end());
  return below + (at - static_cast<double>(low)) * (above - below);
}

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
