// Who took part where that is not known, guessed from the records that were found: a record that jumps up
// says that its owner took part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/records/part_regression.h"

namespace undertext {

struct FoundRecord {
  std::int64_t client = 0;
  double confidence = 0;
  std::vector<double> series;  // its log-probability before the first round and after each
};

// parts: as the regression had them. Those that are unknown in the observation come nearer to 0 or 1; where
// each round has as many participants, their sum stays as it was.
Matrix<double> refined_parts(const FederationObservation& observation, const Matrix<double>& parts,
                             std::span<const FoundRecord> found);

}  // namespace undertext
