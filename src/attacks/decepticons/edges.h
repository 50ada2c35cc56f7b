// The edges of the bins that measurements fall into.
#pragma once

#include <cstdint>
#include <vector>

namespace undertext {

// The value that a standard normal one stays below with this probability, 0 < p < 1.
double normal_quantile(double p);

// decepticons, section 3: edges that give normal measurements of this mean and deviation the same chance of
// falling into each of the bins, ascending. The first lies far below all measurements.
std::vector<double> normal_edges(double mean, double deviation, std::int64_t bins);

}  // namespace undertext
