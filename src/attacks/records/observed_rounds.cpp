#include "attacks/records/observed_rounds.h"

#include <utility>

#include "base/error.h"

namespace undertext {

FederationObservation rounds_of(const FederationObservation& observation, std::int64_t first,
                                std::int64_t last) {
  UNDERTEXT_CHECK(0 <= first && first < last && last <= observation.rounds);
  FederationObservation part = observation;
  part.rounds = last - first;
  part.model = [model = observation.model, first](std::int64_t round) { return model(first + round); };
  part.took_part.assign(observation.took_part.begin() + first, observation.took_part.begin() + last);
  return part;
}

FederationObservation permuted(const FederationObservation& observation, Seed seed) {
  FederationObservation result = observation;
  Random random(seed);
  for (std::size_t i = result.took_part.size(); i > 1; --i)
    std::swap(result.took_part[i - 1], result.took_part[random.below(i)]);
  return result;
}

FederationObservation with_unknown(const FederationObservation& observation, double share, Seed seed) {
  FederationObservation result = observation;
  Random random(seed);
  for (auto& round : result.took_part)
    for (TookPart& took : round)
      if (random.uniform() < share) took = TookPart::unknown;
  return result;
}

}  // namespace undertext
