#include "metrics/calibration.h"

#include <algorithm>
#include <cmath>

namespace undertext {
namespace {

double share(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

void Calibration::add(double confidence, bool certified, bool right) {
  const double known = std::isnan(confidence) ? 0 : std::clamp(confidence, 0.0, 1.0);
  Bin& bin = bins_[std::min(kBins - 1, static_cast<std::size_t>(known * kBins))];
  ++bin.tokens;
  bin.right += right ? 1 : 0;
  bin.confidence += known;
  ++tokens_;
  certified_ += certified ? 1 : 0;
  certified_right_ += certified && right ? 1 : 0;
}

double Calibration::error() const {
  if (tokens_ == 0) return 0;
  double gaps = 0;
  for (const Bin& bin : bins_) gaps += std::abs(bin.confidence - static_cast<double>(bin.right));
  return gaps / static_cast<double>(tokens_);
}

double Calibration::certified_share() const {
  return share(certified_, tokens_);
}

double Calibration::certified_accuracy() const {
  return share(certified_right_, certified_);
}

}  // namespace undertext
