// Tokens to their sequences and places: codes from bins that one token has to itself, then round by round
// what is known is taken off the rows and what is left decoded again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "attacks/decepticons/exact_layout.h"
#include "attacks/decepticons/label_channel.h"
#include "attacks/decepticons/mixed_rows.h"
#include "attacks/decepticons/observed_rows.h"
#include "attacks/decepticons/sequence_codes.h"

namespace undertext {

struct PlacedToken {
  std::int64_t token = -1;  // of the state's ids; -1: none found
  double amount = 0;        // of its undivided row; 0: another sequence's row holds it too
  bool doubtful = false;    // another sequence would have fitted as well
};

class Placing {
 public:
  // sequences: how many there are; 0: as many as there are codes.
  // noise: the deviation of each entry of the rows, 0 where they are exact.
  // rows: brought to units of a row that holds one token, and used up.
  Placing(const ExactState& state, ObservedRows& rows, std::int64_t sequences, double noise);

  void run();

  const SequenceCodes& codes() const { return codes_; }
  const PlacedToken& at(std::int64_t sequence, std::int64_t position) const {
    return placed_[static_cast<std::size_t>(sequence * state_.length() + position)];
  }
  // The loss at a place whose token has a row of its own; nothing elsewhere.
  std::optional<double> loss_at(std::int64_t sequence, std::int64_t position) const;
  const LabelChannel& labels() const { return labels_; }
  // How far codes of one sequence may lie apart.
  double code_tolerance() const { return code_tolerance_; }
  // Whether noise is so little that what fits is right; with more another token may fit as well.
  bool nearly_exact() const;
  // Of the rows that a placed token lies in, whether all are explained.
  bool explained(std::int64_t sequence, std::int64_t position) const;
  // The share of the places with a loss, of all sequences found, that have a token; 0 where there are none.
  double placed_share() const;
  // The same of places whose token is not doubtful.
  double sure_share() const;
  // The share of what was observed that is left in the rows.
  double residual() const;

 private:
  double* amount(std::int64_t row) { return &rows_.amounts[static_cast<std::size_t>(row)]; }
  double share_of_places(const std::function<bool(const PlacedToken&)>& counts) const;
  double row_length() const;
  double norm_of(std::int64_t row) const;
  void decode(const std::vector<std::int64_t>& which, int most);
  void find_codes();
  void add_code(const double* code);
  bool place_round(bool doubtful);
  bool place(std::int64_t row, bool doubtful);
  bool in_bin(std::int64_t row, std::int64_t token, std::int64_t sequence, std::int64_t position) const;
  std::vector<std::vector<std::int64_t>> candidates(std::int64_t row,
                                                    const std::vector<Member>& members) const;
  void put(std::int64_t sequence, const Member& member, bool doubtful);
  void peel(int most);
  std::int64_t row_in(std::int64_t layer, std::int64_t token, std::int64_t sequence, std::int64_t position,
                      double amount) const;
  double change(std::int64_t row, std::int64_t token, std::int64_t sequence, std::int64_t position,
                double amount) const;
  bool find_missing_codes(bool alone);
  void calibrate_labels();
  bool contradicted(const Member& member, std::int64_t sequence) const;
  std::int64_t nearest_token(const double* code) const;
  void copy_beginnings();

  const ExactState& state_;
  ObservedRows& rows_;
  std::int64_t sequences_;
  MixedRows decoder_;
  SequenceCodes codes_;
  LabelChannel labels_;
  std::vector<PlacedToken> placed_;           // sequences * length
  std::vector<std::vector<Member>> members_;  // of each row, where it is decoded and not yet placed
  std::vector<std::pair<std::int64_t, std::int64_t>> fresh_;  // placed, not yet peeled: sequence, position
  double code_tolerance_ = 0;
  // What noise makes of the tolerances: of each entry, of empty rows, of amounts and of measurements.
  double noise_ = 0, empty_ = 0, amount_fits_ = 0, edge_ = 0;
  double held_ = 0;  // squares of all rows, before anything was taken off
};

}  // namespace undertext
