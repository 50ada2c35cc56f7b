// Pearson's correlation between rows, as products of rows that are standardised once.
#pragma once

#include <cstdint>

#include "base/matrix.h"

namespace undertext {

// Each row centred and brought to length 1; to 0 where all entries are equal.
void standardise(float* row, std::int64_t n);
// Columns [first, last) of each row, standardised: (rows, last - first). from: (rows, cols) row by row.
Matrix<float> standardised(const float* from, std::int64_t rows, std::int64_t cols, std::int64_t first,
                           std::int64_t last);

// Of standardised rows: (a.rows, b.rows).
Matrix<float> correlations(const Matrix<float>& a, const Matrix<float>& b);

}  // namespace undertext
