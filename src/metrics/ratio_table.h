// The likeness of every true sentence with every recovered one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

using SentenceRatio = std::function<double(std::span<const Token>, std::span<const Token>)>;  // 0 to 100

// Messages repeat: the ratio is computed once for each pair of distinct sentences.
class RatioTable {
 public:
  RatioTable(std::span<const Sentence> truth, std::span<const Sentence> recovered,
             const SentenceRatio& ratio);

  std::int64_t truth() const { return static_cast<std::int64_t>(truth_.size()); }
  std::int64_t recovered() const { return static_cast<std::int64_t>(recovered_.size()); }
  double at(std::int64_t true_index, std::int64_t recovered_index) const {
    return ratios_[static_cast<std::size_t>(recovered_[static_cast<std::size_t>(recovered_index)] * columns_ +
                                            truth_[static_cast<std::size_t>(true_index)])];
  }

 private:
  std::vector<std::int64_t> truth_, recovered_;  // sentence -> its number among the distinct ones
  std::int64_t columns_ = 0;                     // distinct true sentences
  std::vector<double> ratios_;                   // distinct recovered x distinct true
};

// The published score: for each recovered sentence the best-matching true one (which may be used again and
// again), mean over the recovered ones. 0 when either side is empty.
double mean_best_ratio(const RatioTable& table);

}  // namespace undertext
