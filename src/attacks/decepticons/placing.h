// Tokens to their sequences and places: codes from bins that one token has to itself, then round by round
// what is known is taken off the rows and what is left decoded again.
#pragma once

#include <cstdint>
#include <vector>

#include "attacks/decepticons/exact_layout.h"
#include "attacks/decepticons/mixed_rows.h"
#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/sequence_codes.h"

namespace undertext {

struct PlacedToken {
  std::int64_t token = -1;  // of the state's ids; -1: none found
  double amount = 0;        // of its undivided row
};

class Placing {
 public:
  // sequences: how many there are; 0: as many as there are codes.
  Placing(const ExactState& state, ObservedRows& rows, std::int64_t sequences);

  void run();

  const SequenceCodes& codes() const { return codes_; }
  const PlacedToken& at(std::int64_t sequence, std::int64_t position) const {
    return placed_[static_cast<std::size_t>(sequence * state_.length() + position)];
  }
  // How far codes of one sequence may lie apart.
  double code_tolerance() const { return code_tolerance_; }
  // Of the rows that a placed token lies in, whether all are explained.
  bool explained(std::int64_t sequence, std::int64_t position) const;
  // The share of what was observed that is left in the rows.
  double residual() const;

 private:
  struct Fit;

  double* amount(std::int64_t row) { return &rows_.amounts[static_cast<std::size_t>(row)]; }
  double norm_of(std::int64_t row) const;
  void decode(const std::vector<std::int64_t>& which, int most);
  void find_codes();
  void add_code(const double* code);
  bool place_round(bool doubtful);
  bool place(std::int64_t row, bool doubtful);
  bool in_bin(std::int64_t row, std::int64_t token, std::int64_t sequence, std::int64_t position) const;
  std::vector<std::vector<std::int64_t>> candidates(std::int64_t row,
                                                    const std::vector<Member>& members) const;
  void put(std::int64_t sequence, const Member& member);
  void peel(int most);
  std::int64_t row_in(std::int64_t layer, std::int64_t token, std::int64_t sequence, std::int64_t position,
                      double amount) const;
  double change(std::int64_t row, std::int64_t token, std::int64_t sequence, std::int64_t position,
                double amount) const;
  bool find_missing_codes(bool alone);

  const ExactState& state_;
  ObservedRows& rows_;
  std::int64_t sequences_;
  MixedRows decoder_;
  SequenceCodes codes_;
  std::vector<PlacedToken> placed_;           // sequences * length
  std::vector<std::vector<Member>> members_;  // of each row, where it is decoded and not yet placed
  std::vector<std::pair<std::int64_t, std::int64_t>> fresh_;  // placed, not yet peeled: sequence, position
  double scale_ = 0;                                          // the length of a row that holds one token
  double code_tolerance_ = 0;
};

}  // namespace undertext
