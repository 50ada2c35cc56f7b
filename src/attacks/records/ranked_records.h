// The published ways to rank candidate records: by exposure alone (Carlini et al., The Secret Sharer, the
// baseline of record-level), and by exposure and correlation (record-level, eqs. 10 and 12).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace undertext {

struct RankedRecord {
  std::int64_t record = 0;  // which candidate
  double rank = 0;          // what the order goes by: the smaller, the better
};

// By the exposure after the last round: rank 1 has the highest.
std::vector<RankedRecord> rank_by_exposure(std::span<const double> exposure);

// r(x) of eqs. 10 and 12: the rank of the correlation and the rank of the last exposure, added. The paper
// speaks of ascending order, of the highest rank and of the argmin at once; taken at its word the true record
// comes last. Here rank 1 is the best in both terms (the highest correlation, the highest exposure), equal
// values share the mean of their ranks, and the smallest sum wins; of equal sums the higher exposure.
std::vector<RankedRecord> rank_by_sum(std::span<const double> correlation, std::span<const double> exposure);

// The Secret Sharer's exposure of a record that comes `rank`-th of all texts of a pattern: how many bits of
// guessing the model saves.
double exposure_in_bits(double log2_texts, double rank);

}  // namespace undertext
