// What the sizes of placed tokens' rows say of the tokens after them: a loss weighs its label's weight.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "attacks/decepticons/exact_layout.h"

namespace undertext {

class LabelChannel {
 public:
  explicit LabelChannel(const ExactState& state) : state_(state) {}

  // A loss (ExactState::loss_of) whose label, one of the ids, is known.
  struct Known {
    double loss = 0;
    std::int64_t label = 0;
  };
  void calibrate(const std::vector<Known>& known);

  bool calibrated() const { return factor_ != 0; }
  // The weight of the label of a loss.
  double weight_of(double loss) const { return state_.mean_label_weight() - loss / factor_; }
  double weight(std::int64_t token) const {
    return state_.label_weight(state_.ids()[static_cast<std::size_t>(token)]);
  }
  // How far a weight may lie from its label's, as a share of it: 99 of 100 lay nearer.
  double error() const { return error_; }
  bool agrees(double loss, std::int64_t label) const;

  struct Reading {
    std::int64_t token = 0;
    double distance = 0, next = 0;  // of its weight, and of the next best
  };
  Reading read(double loss) const;  // the label with the nearest weight

 private:
  const ExactState& state_;
  double factor_ = 0, error_ = 0;
};

}  // namespace undertext
