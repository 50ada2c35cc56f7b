#include "attacks/records/ranked_records.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/ranks.h"

namespace undertext {
namespace {

std::vector<RankedRecord> in_order(std::span<const double> ranks, std::span<const double> exposure) {
  std::vector<RankedRecord> order;
  for (std::size_t i = 0; i < ranks.size(); ++i) order.push_back({static_cast<std::int64_t>(i), ranks[i]});
  std::ranges::stable_sort(order, [&](const RankedRecord& x, const RankedRecord& y) {
    return x.rank != y.rank
               ? x.rank < y.rank
               : exposure[static_cast<std::size_t>(x.record)] > exposure[static_cast<std::size_t>(y.record)];
  });
  return order;
}

}  // namespace

std::vector<RankedRecord> rank_by_exposure(std::span<const double> exposure) {
  return in_order(average_ranks_from_top(exposure), exposure);
}

std::vector<RankedRecord> rank_by_sum(std::span<const double> correlation, std::span<const double> exposure) {
  UNDERTEXT_CHECK(correlation.size() == exposure.size());
  std::vector<double> sums = average_ranks_from_top(correlation);
  const std::vector<double> by_exposure = average_ranks_from_top(exposure);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += by_exposure[i];
  return in_order(sums, exposure);
}

double exposure_in_bits(double log2_texts, double rank) {
  return log2_texts - std::log2(rank);
}

}  // namespace undertext
