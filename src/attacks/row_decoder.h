// Reads one word's row as a sum of a few contexts.
//
// A row r_k is the sum of h~_c over the contexts that the word followed. When these contexts are all among
// the known ones, the sparse non-negative combination that gives r_k exactly is, for words that are not too
// frequent, the only one: D numbers must fit at once. A row so explained is as good as proven.
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"

namespace undertext {

class RowDecoder {
 public:
  // h (n, D): the contexts that may occur; filter (D, D): see evidence_filter.
  RowDecoder(const Matrix<float>& h, const Matrix<float>& filter);

  struct Part {
    std::int64_t context;  // row of h
    std::int64_t count;
    double weight;  // before it was rounded to the count
  };
  struct Decoding {
    std::vector<Part> parts;
    double residual = 0;            // norm of what whole counts leave over
    double unrounded_residual = 0;  // and of what the weights before rounding do
  };
  // The best explanation by at most `terms` contexts; counts are rounded.
  Decoding decode(std::span<const float> row, std::int64_t terms) const;

 private:
  const Matrix<float>& h_;
  Matrix<float> whitener_;  // L, filter = L L'
  Matrix<float> white_;     // h L, rows scaled to one
  std::vector<float> norm_;
};

}  // namespace undertext
