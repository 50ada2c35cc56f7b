#include "base/quantile.h"

#include <algorithm>
#include <cmath>

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

double deviation_around_zero(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return 1.4826 * quantile(std::move(values), 0.5);
}

}  // namespace undertext
