#include "federated/plateau.h"

#include <limits>

namespace undertext {

double rate_after(std::span<const double> losses, double first_rate, const Plateau& plateau) {
  double rate = first_rate, best = std::numeric_limits<double>::infinity();
  std::int64_t since = 0;
  for (const double loss : losses) {
    if (loss < best) {
      best = loss;
      since = 0;
    } else if (++since == plateau.rounds) {
      rate *= plateau.factor;
      since = 0;
    }
  }
  return rate;
}

bool ends_after(std::span<const double> losses, const Plateau& plateau) {
  if (plateau.patience == 0) return false;
  double best = std::numeric_limits<double>::infinity();
  std::int64_t since = 0;
  for (const double loss : losses) {
    since = loss < best ? 0 : since + 1;
    if (loss < best) best = loss;
    if (since == plateau.patience) return true;
  }
  return false;
}

}  // namespace undertext
