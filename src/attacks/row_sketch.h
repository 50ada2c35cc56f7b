// The words' rows, made fewer: words that a search may use keep their own row; all others are added up with
// random signs (and weights) into a few shared rows. A linear relation between rows stays exactly true, and
// squared norms are kept on average (a count sketch), at a tenth of the cost.
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"
#include "base/random.h"
#include "text/tokenizer.h"

namespace undertext {

class RowSketch {
 public:
  // weight: of each word that is not kept (empty: one).
  RowSketch(std::int64_t vocabulary, std::span<const Token> kept, std::int64_t shared, Seed seed,
            std::span<const float> weight = {});

  std::int64_t rows() const { return rows_; }
  std::int64_t kept() const { return kept_; }  // rows [0, kept) are words, the others are shared
  std::int64_t row(Token word) const { return slot_[word]; }
  Token word(std::int64_t row) const { return words_[row]; }  // of a row below kept()
  bool keeps(Token word) const { return slot_[word] < kept_; }
  // Sum of the squared weights in a row: what independent noise in the words' rows adds up to.
  double noise_gain(std::int64_t row) const { return gain_[row]; }

  // out (rows) = sketch of one number per word.
  void project(const float* values, float* out) const;
  // The rows of m (vocabulary, D), sketched: (rows, D).
  Matrix<double> project(const Matrix<double>& m) const;

 private:
  std::int64_t rows_, kept_;
  std::vector<std::int32_t> slot_;  // word -> row
  std::vector<Token> words_;        // row -> word
  std::vector<float> factor_;       // sign and weight
  std::vector<double> gain_;
};

}  // namespace undertext
