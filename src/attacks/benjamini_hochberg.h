// Telling a few unusual values from a crowd of usual ones, without knowing how many there are.
#pragma once

#include <vector>

namespace undertext {

// P(Z <= z) for a standard normal Z, to full relative precision in the lower tail.
double normal_cdf(double z);

// Benjamini and Hochberg (1995): with m p-values in ascending order, the largest p_(i) <= q i / m. Rejecting
// every p-value up to it keeps the expected share of false discoveries below q. -1 when nothing is rejected.
double benjamini_hochberg(std::vector<double> p, double q);

// Centre and spread of the crowd when all that is unusual lies above it: the median, and the distance from
// the lower quartile to it, which for a normal crowd is .6745 standard deviations.
struct Crowd {
  double centre = 0;
  double deviation = 0;
};
Crowd lower_half_crowd(const std::vector<double>& values);

}  // namespace undertext
