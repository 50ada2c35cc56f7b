// Where values lie and how far they spread, whatever a few of them do.
#pragma once

#include <vector>

namespace undertext {

// The value below which a share q of the values lies, 0 <= q <= 1, interpolated between neighbours; 0 for
// none.
double quantile(std::vector<double> values, double q);

// The standard deviation of normal values around zero, from the median of their sizes.
double deviation_around_zero(std::vector<double> values);

}  // namespace undertext
