// Whether a record moves with a client's part in the rounds, or only seems to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/records/part_regression.h"

namespace undertext {

// The same rounds with who took part dealt out to them anew, again and again: what a client's effect comes to
// where it means nothing.
class OwnerEvidence {
 public:
  explicit OwnerEvidence(const Matrix<double>& parts);

  const PartRegression& regression() const { return regression_; }
  // By how many standard deviations a client's effect on the series stands above those of dealt-out parts.
  double significance(std::span<const double> series, std::int64_t client) const;
  // The chance that the client owns a record with this series, as far as its significance tells.
  double chance(std::span<const double> series, std::int64_t client) const;
  // The client whose effect is largest, in its standard errors.
  std::int64_t likeliest_owner(std::span<const double> series) const;

 private:
  PartRegression regression_;
  std::vector<PartRegression> dealt_;
};

}  // namespace undertext
