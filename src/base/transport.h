// The cheapest way to give every row a place in a column that takes several.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/matrix.h"

namespace undertext {

// costs: rows x columns, finite. Column j takes at most capacity[j] rows, and all together at least as many
// as there are rows. Returns the column of each row, with the least sum of costs: a min-cost flow from rows
// to columns, by shortest augmenting paths.
//
// Written by hand because a general flow solver sees rows x columns arcs, where the paths run between columns
// alone: the cheapest exchange between any two columns is kept, columns^2 numbers, and a path is a dense
// Dijkstra over them.
std::vector<std::int64_t> solve_transport(const Matrix<float>& costs, std::span<const std::int64_t> capacity);

}  // namespace undertext
