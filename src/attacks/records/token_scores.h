// What may follow the prefixes of a pattern's texts, and how well each token does there: what a search for
// the best texts asks, whether one model answers or many together.
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix.h"
#include "models/prefix_reader.h"

namespace undertext {

class TokenScores {
 public:
  virtual ~TokenScores() = default;

  // The state before a record's first token; kNothing where nothing was read then.
  virtual StateId begin() const = 0;
  static constexpr StateId kNothing = -1;

  // Appends tokens[i] to states[i]. New states are numbered consecutively from the returned id.
  virtual StateId extend(std::span<const StateId> states, std::span<const Token> tokens) = 0;
  // Logarithms of probabilities, none above zero, of the pattern's tokens after each of the states from
  // `first` on, whose texts stand at these states of the pattern: (states, alphabet). Tokens that the pattern
  // does not allow there have any value.
  virtual Matrix<float> scores(StateId first, std::span<const std::int32_t> places) = 0;
  // Forgets all states but these (ascending), which are numbered anew from 0 in their order.
  virtual void keep(std::span<const StateId> states) = 0;
  virtual std::int64_t states() const = 0;
};

}  // namespace undertext
