// What a client's part in a round does to a number that the rounds change, when all clients and the number's
// own memory are held against each other:
//   x_t = c + sum_j a_j s_tj + m x_{t-1} + noise       (s_tj: whether client j took part in round t)
// A record's log-probability rises when its owner takes part and decays when not; a correlation with one
// client's part alone also counts what its companions of those rounds did, and what was left of earlier ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/matrix.h"
#include "federated/federation_observation.h"

namespace undertext {

// (rounds, clients): 1 took part, 0 did not; the chance of it where it is unknown. Where the rounds that are
// known in whole all have as many participants, those of the others are as many.
Matrix<double> expected_parts(const FederationObservation& observation);

struct PartEffects {
  std::vector<double> effect;     // a_j of each client
  std::vector<double> deviation;  // its standard error
  double memory = 0;              // m
  double constant = 0;            // c, of a round of half a part of each client
  double noise = 0;               // standard deviation of what is not explained
};

class PartRegression {
 public:
  // Later rounds count more: by half for each half_life rounds.
  explicit PartRegression(const Matrix<double>& parts, double half_life = 12);

  std::int64_t rounds() const { return columns_.cols; }
  // series: x_0 to x_T. The effect of one client alone, for inner loops.
  double effect(std::span<const double> series, std::int64_t client) const;
  PartEffects effects(std::span<const double> series) const;

 private:
  struct Products;
  Products products(std::span<const double> series) const;

  Matrix<double> columns_;      // (1 + clients, rounds): one, and s - 1/2
  std::vector<double> weight_;  // of each round
  Matrix<double> inverse_;      // (1 + clients, 1 + clients), of the weighted products of the columns
};

}  // namespace undertext
