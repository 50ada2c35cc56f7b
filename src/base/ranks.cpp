#include "base/ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace undertext {

std::vector<double> average_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(values[i], i); });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = 0.5 * static_cast<double>(begin + 1 + end);  // of begin + 1 to end
    for (; begin < end; ++begin) ranks[order[begin]] = mean;
  }
  return ranks;
}

std::vector<double> average_ranks_from_top(std::span<const double> values) {
  std::vector<double> ranks = average_ranks(values);
  for (double& rank : ranks) rank = static_cast<double>(ranks.size()) + 1 - rank;
  return ranks;
}

double correlation(std::span<const double> x, std::span<const double> y) {
  UNDERTEXT_CHECK(x.size() == y.size());
  if (std::ranges::adjacent_find(x, std::not_equal_to<>()) == x.end() ||
      std::ranges::adjacent_find(y, std::not_equal_to<>()) == y.end())
    return 0;
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n,
               mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xy == 0 ? 0 : std::clamp(xy / std::sqrt(xx) / std::sqrt(yy), -1.0, 1.0);
}

double rank_correlation(std::span<const double> x, std::span<const double> y) {
  UNDERTEXT_CHECK(x.size() == y.size());
  return correlation(average_ranks(x), average_ranks(y));
}

}  // namespace undertext
