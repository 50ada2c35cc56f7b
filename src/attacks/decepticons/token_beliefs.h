// How sure a readout may be of each token that it placed.
#pragma once

#include <vector>

#include "attacks/decepticons/place_rows.h"
#include "attacks/decepticons/readout.h"
#include "attacks/decepticons/sequence_shape.h"

namespace undertext {

struct PlacedTokens {
  const Transformer& model;
  SequenceShape shape;
  std::int64_t code;                         // v
  const Matrix<float>& rows;                 // (R, D - v - 1), standardised
  const Matrix<float>& codes;                // (R, v), standardised
  const Matrix<float>& places;               // (S, D - v - 1), standardised
  const std::vector<char>& pure;             // whether a row can be one place's input and not a mixture
  const std::vector<float>& weight;          // of each row, lambda of eq. 3
  const std::vector<std::int64_t>& cluster;  // the sequence of each row
  const std::vector<Slot>& slots;
  const std::vector<Token>& tokens;  // of each slot
};

// decepticons, section 4, "attack confidence": a token's confidence is the best correlation of token and
// place together with any row. Certified is a token that explains its own row to rounding, with a place that
// no other row of the same code claims, in a sequence whose code no other has.
DecepticonRecovery beliefs_of(const PlacedTokens& placed);

}  // namespace undertext
