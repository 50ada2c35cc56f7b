#include "metrics/roc.h"

#include <algorithm>
#include <vector>

namespace undertext {

std::optional<double> area_under_curve(std::span<const JudgedRecovery> recoveries) {
  std::vector<JudgedRecovery> order(recoveries.begin(), recoveries.end());
  std::ranges::sort(order, {}, &JudgedRecovery::confidence);
  // Mann and Whitney's count: for each right one the wrong ones below it.
  double right = 0, wrong = 0, pairs = 0;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    double right_here = 0, wrong_here = 0;
    for (; end < order.size() && order[end].confidence == order[first].confidence; ++end)
      ++(order[end].right ? right_here : wrong_here);
    pairs += right_here * (wrong + wrong_here / 2);
    right += right_here;
    wrong += wrong_here;
    first = end;
  }
  if (right == 0 || wrong == 0) return std::nullopt;
  return pairs / (right * wrong);
}

}  // namespace undertext
