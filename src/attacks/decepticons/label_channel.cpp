#include "attacks/decepticons/label_channel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quantile.h"

namespace undertext {
namespace {

constexpr std::size_t kEnough = 8;  // losses with known labels
constexpr double kAgrees = 0.01;    // of a weight

}  // namespace

void LabelChannel::calibrate(const std::vector<Known>& known) {
  if (known.size() < kEnough) return;
  std::vector<double> ratios, errors;
  for (const Known& one : known)
    ratios.push_back(one.loss / (state_.mean_label_weight() - weight(one.label)));
  factor_ = quantile(ratios, 0.5);
  for (const double ratio : ratios) errors.push_back(std::abs(ratio / factor_ - 1));
  error_ = std::max(quantile(errors, 0.99), 1e-7);
}

bool LabelChannel::agrees(double loss, std::int64_t label) const {
  return std::abs(weight_of(loss) / weight(label) - 1) < kAgrees;
}

LabelChannel::Reading LabelChannel::read(double loss) const {
  Reading best{0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double seen = weight_of(loss);
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(state_.ids().size()); ++t) {
    const double distance = std::abs(weight(t) - seen);
    if (distance < best.distance)
      best = {t, distance, best.distance};
    else
      best.next = std::min(best.next, distance);
  }
  return best;
}

}  // namespace undertext
