// The cheapest one-to-one assignment of rows to columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace undertext {

// costs: rows x columns, row by row, finite. Assigns min(rows, columns) pairs with the least sum of costs and
// returns the column of each row, -1 for a row without one (only when rows > columns).
//
// Written by hand because no library at hand solves the rectangular problem: shortest augmenting paths with
// dual prices (Jonker and Volgenant 1987), O(min^2 max) time and, beside the costs, O(rows + columns) memory
// (a transposed copy when rows > columns).
std::vector<std::int64_t> solve_assignment(std::span<const double> costs, std::int64_t rows,
                                           std::int64_t columns);

}  // namespace undertext
