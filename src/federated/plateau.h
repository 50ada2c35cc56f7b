// What a server learns from its validation loss: when to slow down, and when to stop.
#pragma once

#include <cstdint>
#include <span>

namespace undertext {

struct Plateau {
  std::int64_t rounds = 5;  // without a lower loss, after which the learning rate falls; 0: it never does
  double factor = 0.1;
  std::int64_t patience = 0;  // rounds without a lower loss after which the federation ends; 0: never
};

// Both are functions of all losses so far, the first one that of the model before the first round: what a
// server that was interrupted needs to know is in its log.
double rate_after(std::span<const double> losses, double first_rate, const Plateau& plateau);
bool ends_after(std::span<const double> losses, const Plateau& plateau);

}  // namespace undertext
