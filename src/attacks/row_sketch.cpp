#include "attacks/row_sketch.h"

#include <algorithm>

namespace undertext {

RowSketch::RowSketch(std::int64_t vocabulary, std::span<const Token> kept, std::int64_t shared, Seed seed,
                     std::span<const float> weight)
    : rows_(static_cast<std::int64_t>(kept.size()) + shared),
      kept_(static_cast<std::int64_t>(kept.size())),
      slot_(static_cast<std::size_t>(vocabulary), -1),
      words_(kept.begin(), kept.end()),
      factor_(static_cast<std::size_t>(vocabulary), 1.0f),
      gain_(static_cast<std::size_t>(rows_), 0.0) {
  std::int32_t next = 0;
  for (Token word : kept) slot_[word] = next++;
  Random random(seed);
  for (std::int64_t k = 0; k < vocabulary; ++k) {
    const std::uint64_t draw = random.next();  // drawn for every word, so that a word's place never moves
    if (slot_[k] < 0) {
      slot_[k] = static_cast<std::int32_t>(
          kept_ + static_cast<std::int64_t>((draw >> 1) % static_cast<std::uint64_t>(shared)));
      factor_[k] = ((draw & 1) != 0 ? 1.0f : -1.0f) * (weight.empty() ? 1.0f : weight[k]);
    }
    gain_[slot_[k]] += static_cast<double>(factor_[k]) * factor_[k];
  }
}

void RowSketch::project(const float* values, float* out) const {
  std::vector<double> sum(static_cast<std::size_t>(rows_), 0.0);
  for (std::size_t k = 0; k < slot_.size(); ++k) sum[slot_[k]] += static_cast<double>(factor_[k] * values[k]);
  std::copy(sum.begin(), sum.end(), out);
}

Matrix<double> RowSketch::project(const Matrix<double>& m) const {
  Matrix<double> out(rows_, m.cols);
  for (std::int64_t k = 0; k < m.rows; ++k) {
    double* to = out.row(slot_[k]);
    const double* from = m.row(k);
    for (std::int64_t j = 0; j < m.cols; ++j) to[j] += factor_[k] * from[j];
  }
  return out;
}

}  // namespace undertext
