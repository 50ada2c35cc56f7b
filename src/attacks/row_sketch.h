// The words' rows, made fewer: words that a search may use keep their own row; all others are added up with
// random signs into a few shared rows. A linear relation between rows stays exactly true, and squared norms
// are kept on average (a count sketch), at a tenth of the cost.
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"
#include "base/random.h"
#include "text/vocabulary.h"

namespace undertext {

class RowSketch {
 public:
  RowSketch(std::int64_t vocabulary, std::span<const Token> kept, std::int64_t shared, Seed seed);

  std::int64_t rows() const { return rows_; }
  std::int64_t row(Token word) const { return slot_[word]; }
  bool keeps(Token word) const { return slot_[word] < kept_; }

  // out (rows) = sketch of one number per word.
  void project(const float* values, double* out) const;
  // The rows of m (vocabulary, D), sketched: (rows, D).
  Matrix<double> project(const Matrix<double>& m) const;

 private:
  std::int64_t rows_, kept_;
  std::vector<std::int32_t> slot_;  // word -> row
  std::vector<float> sign_;
};

}  // namespace undertext
