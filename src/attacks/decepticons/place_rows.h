// Which recovered input belongs to which place of which sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix.h"

namespace undertext {

struct Slot {
  std::int64_t row = -1;  // of the inputs; -1: none is left of this sequence
  bool repeated = false;  // the row stands at another place already, which it fits better
};

// decepticons, section 3.1, "assigning positions": in each sequence the rows go to places so that the sum of
// correlations is largest; places that stay free are filled again from the same rows. rows: (R, n) and
// places: (S, n), standardised; cluster: the sequence of each row. Returns sequences * S slots.
std::vector<Slot> place_rows(const Matrix<float>& rows, const std::vector<std::int64_t>& cluster,
                             std::int64_t sequences, const Matrix<float>& places);

}  // namespace undertext
