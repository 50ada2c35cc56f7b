#include "attacks/decepticons/sequence_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace undertext {

SequenceCodes::SequenceCodes(const ExactState& state) : state_(state) {}

std::size_t SequenceCodes::at(std::int64_t sequence, std::int64_t position) const {
  const std::int64_t window = state_.window();
  return static_cast<std::size_t>(sequence * window + std::min(position, window - 1));
}

void SequenceCodes::set(std::size_t at, const double* code) {
  const auto v = static_cast<std::size_t>(state_.blocks().code);
  std::copy_n(code, v, codes_.begin() + static_cast<std::ptrdiff_t>(at * v));
  deviation_[at] = state_.deviation(code);
  const auto layers = static_cast<std::size_t>(state_.layers());
  for (std::size_t l = 0; l < layers; ++l)
    measured_[at * layers + l] = state_.measured_code(static_cast<std::int64_t>(l), code);
  known_[at] = 1;
}

void SequenceCodes::add(const double* code) {
  const auto slots = static_cast<std::size_t>((count_ + 1) * state_.window());
  codes_.resize(slots * static_cast<std::size_t>(state_.blocks().code));
  deviation_.resize(slots);
  measured_.resize(slots * static_cast<std::size_t>(state_.layers()));
  known_.resize(slots);
  set(slots - 1, code);
  ++count_;
}

void SequenceCodes::place(std::int64_t sequence, std::int64_t position, std::int64_t token) {
  if (position == 0 || position >= state_.window() || !known(sequence, position)) return;
  // The mean over position + 1 tokens, less this one.
  const std::int64_t v = state_.blocks().code;
  const double* here = code(sequence, position);
  std::vector<double> before(static_cast<std::size_t>(v));
  for (std::int64_t j = 0; j < v; ++j)
    before[static_cast<std::size_t>(j)] =
        (static_cast<double>(position + 1) * here[j] - state_.token_codes()(token, j)) /
        static_cast<double>(position);
  set(at(sequence, position - 1), before.data());
}

double SequenceCodes::measured(std::int64_t layer, std::int64_t token, std::int64_t sequence,
                               std::int64_t position) const {
  const std::size_t slot = at(sequence, position);
  const double part =
      measured_[slot * static_cast<std::size_t>(state_.layers()) + static_cast<std::size_t>(layer)];
  return state_.measured(layer, token, position, part, deviation_[slot]);
}

double SequenceCodes::nearest(const double* code) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t s = 0; s < count_; ++s)
    least = std::min(least, code_distance(code, this->code(s, state_.window()), state_.blocks().code));
  return least;
}

double code_distance(const double* a, const double* b, std::int64_t n) {
  double squares = 0;
  for (std::int64_t j = 0; j < n; ++j) squares += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(squares);
}

}  // namespace undertext
