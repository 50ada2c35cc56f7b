// Vectors as sparse mixtures of the rows of a known dictionary.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/matrix.h"

namespace undertext {

struct Mixture {
  struct Part {
    std::int64_t atom = 0;
    double amount = 0;  // in units of the atom's own row
  };
  std::vector<Part> parts;
  double residual = 0;  // what is left of the vector, as a share of its length
};

class Atoms {
 public:
  // rows (n, d), all of the same length.
  explicit Atoms(const Matrix<float>& rows);

  std::int64_t size() const { return unit_.rows; }
  std::int64_t width() const { return unit_.cols; }

  // Products of vectors (m, d) with all atoms, each of length 1: (m, n).
  Matrix<float> correlations(const Matrix<float>& vectors) const;

  // The fewest atoms, at most `most` (1 to 3), that leave no more than `tolerance` of the vector: the best
  // one, else the best pair with one of the atoms that correlate most, else triples grown from the best
  // pairs. correlations: of this vector. Nothing: there are none.
  std::optional<Mixture> decode(const float* vector, const float* correlations, int most,
                                double tolerance) const;

 private:
  struct Pair {
    std::int64_t a = 0, b = 0;
    float explained = 0;  // of the vector's squared length
  };
  std::vector<Pair> best_pairs(const float* correlations, std::size_t count) const;
  std::optional<Mixture> fit(const float* vector, const std::vector<std::int64_t>& atoms) const;

  Matrix<float> unit_;  // (n, d)
  Matrix<float> gram_;  // (n, n)
  double length_ = 1;
};

}  // namespace undertext
