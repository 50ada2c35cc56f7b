// Ranks with ties, and the correlation of ranks.
#pragma once

#include <span>
#include <vector>

namespace undertext {

// 1 for the smallest value; equal values share the mean of the ranks that they take up together.
std::vector<double> average_ranks(std::span<const double> values);
// 1 for the largest value.
std::vector<double> average_ranks_from_top(std::span<const double> values);

// Pearson's correlation. 0 where either side has no two different values: nothing can be said of them.
double correlation(std::span<const double> x, std::span<const double> y);

// Spearman's: the correlation of the average ranks, which is right with ties too (the formula with squared
// differences of ranks is not). Among many ties it stays below 1: half of y -1 and half of it 1 gives
// .87 for long x without ties, at most.
double rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace undertext
