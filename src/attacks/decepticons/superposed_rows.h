// Bins of the paper's state taken apart: which tokens at which places fell into each.
#pragma once

#include <cstdint>
#include <vector>

#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/superposed_state.h"

namespace undertext {

struct SuperposedPart {
  std::int64_t token = 0, place = 0;  // of the state
  double amount = 0;                  // of the token's and the place's rows, undivided
};

// The parts of each bin, none where no few of its candidates explain what it holds. A bin admits so few
// tokens at places that what fell into it can be told apart however many they are, as long as they are fewer
// than the entries of a row.
std::vector<std::vector<SuperposedPart>> take_apart(const SuperposedState& state,
                                                    const ObservedRows& observed);

}  // namespace undertext
