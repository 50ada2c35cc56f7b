// The numbers that inspection is made of. All of them are the same for any number of threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensors/tensor_values.h"

namespace undertext {

// Of all entries of a tensor, around zero.
struct EntryStatistics {
  std::int64_t count = 0, zeros = 0;
  double largest = 0;  // of the sizes
  double rms = 0;
  double kurtosis = 0;  // fourth moment by the squared second: 3 normal, 1.8 uniform; 0 for nothing but zeros
};

EntryStatistics entry_statistics(const at::Tensor& tensor);  // contiguous float32

// Directions of the rows of a matrix (n, d), whatever their lengths and signs.
struct RowDirections {
  std::int64_t rows = 0;           // that are not zero
  double mean_squared_cosine = 0;  // between two of them; 1: all parallel; random rows: 1 / d
  std::vector<double> along;       // (n) each row's product with the direction that most of them share
};

RowDirections row_directions(const at::Tensor& matrix);

// Sum of squares of each column of a matrix (n, d), contiguous.
std::vector<double> column_energies(const at::Tensor& matrix);

// Share of the sum that the largest value has; 0 when all are zero.
double largest_share(const std::vector<double>& energies);

// Ranks from 0, the mean of them where values are equal.
std::vector<double> ranks_of(const std::vector<double>& values);

// Spearman's correlation of the values with their places, 0 for equal ones.
double rank_order(const std::vector<double>& values);

// How evenly values are spaced, however they are distributed and in whatever order: of a sample, the spaces
// between neighbours are as good as exponential, and the logarithm of the ratio of two of them is logistic,
// of mean size 2 log 2 (even those between quantiles of a smooth distribution are nearly equal, and it is 0).
// 1: as even as a ruler, 0: as a sample. Nothing (0) for fewer than 32 values, or when one of ten is double,
// as in half precision.
double evenness(std::vector<double> values);

}  // namespace undertext
