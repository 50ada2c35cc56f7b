// What the protocol says of the defences that a client runs: numbers that both sides know, and so every
// adversary. A defence that only works while its settings are secret is none.
#pragma once

namespace undertext {

struct KnownDefence {
  double noise_per_step = 0;   // standard deviation of the noise in each number of a step's gradient
  double noise_on_result = 0;  // and in each number of what is sent
  double clip = 0;             // norm that a step's gradient is scaled down to; 0: as it is
  double text_clip = 0;        // norm that each text's own gradient is scaled down to; 0: as it is
  double pruned = 0;           // share of a step's gradient that is set to zero

  bool any() const {
    return noise_per_step > 0 || noise_on_result > 0 || clip > 0 || text_clip > 0 || pruned > 0;
  }
  bool operator==(const KnownDefence&) const = default;
};

}  // namespace undertext
