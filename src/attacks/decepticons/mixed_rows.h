// Which tokens, at which places, share a bin: rows decoded as sparse mixtures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attacks/decepticons/atoms.h"
#include "attacks/decepticons/exact_layout.h"
#include "base/matrix.h"

namespace undertext {

struct Member {
  std::int64_t token = 0;  // of the state's ids
  std::int64_t position = 0;
  double amount = 0;  // of the token's undivided row
};

class MixedRows {
 public:
  explicit MixedRows(const ExactState& state);

  // noise: the deviation of each entry. The members of each of the given rows (of width D); none where no
  // mixture of at most `most` tokens and places fits.
  std::vector<std::vector<Member>> decode(const Matrix<float>& rows, std::span<const std::int64_t> which,
                                          int most, double tolerance, double noise) const;

 private:
  const ExactState& state_;
  Atoms tokens_, positions_;
};

}  // namespace undertext
