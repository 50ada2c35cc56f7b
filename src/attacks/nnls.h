// Non-negative least squares in normal form.
#pragma once

#include <vector>

#include "base/matrix.h"

namespace undertext {

// argmin over x >= 0 of x' G x / 2 - c' x, G (m, m) symmetric positive semidefinite. Variables are scaled to
// a unit diagonal first and `ridge` is added to it. `start` (empty, or m values) marks by x > 0 the variables
// expected to be positive. Variables with a zero diagonal stay zero.
std::vector<double> solve_nnls(Matrix<double> gram, const std::vector<double>& c, double ridge,
                               const std::vector<double>& start = {});

}  // namespace undertext
