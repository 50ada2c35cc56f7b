// The codes of the sequences found so far, at each of their places.
#pragma once

#include <cstdint>
#include <vector>

#include "attacks/decepticons/exact_layout.h"

namespace undertext {

class SequenceCodes {
 public:
  explicit SequenceCodes(const ExactState& state);

  std::int64_t count() const { return count_; }
  // A new sequence by its own code: that of all places but the first ones of a causal model's.
  void add(const double* code);
  // Of a causal model, where the code of this place is known: the token there gives the place before its
  // code.
  void place(std::int64_t sequence, std::int64_t position, std::int64_t token);

  bool known(std::int64_t sequence, std::int64_t position) const {
    return known_[at(sequence, position)] != 0;
  }
  const double* code(std::int64_t sequence, std::int64_t position) const {
    return codes_.data() + at(sequence, position) * static_cast<std::size_t>(state_.blocks().code);
  }
  double deviation(std::int64_t sequence, std::int64_t position) const {
    return deviation_[at(sequence, position)];
  }
  // A layer's measurement of a token at a place of a sequence whose code there is known.
  double measured(std::int64_t layer, std::int64_t token, std::int64_t sequence, std::int64_t position) const;

  // The distance from a code to the nearest sequence's own.
  double nearest(const double* code) const;

 private:
  std::size_t at(std::int64_t sequence, std::int64_t position) const;
  void set(std::size_t at, const double* code);

  const ExactState& state_;
  std::int64_t count_ = 0;
  // By sequence and place of the window; the last place stands for all after it.
  std::vector<double> codes_, deviation_, measured_;
  std::vector<char> known_;
};

// The distance of two codes of n entries.
double code_distance(const double* a, const double* b, std::int64_t n);

}  // namespace undertext
