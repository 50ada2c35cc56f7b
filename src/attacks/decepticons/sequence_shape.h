// How many sequences a gradient is of, and how long they are.
#pragma once

#include <cstdint>

#include "attacks/decepticons/readout.h"

namespace undertext {

struct SequenceShape {
  std::int64_t sequences = 0, length = 0;  // B and S
  std::int64_t tokens() const { return sequences * length; }
};

// What the options say, else what the gradient shows: its position rows the length, its bag of words the
// number. UserError where the two contradict each other, or nothing can be seen.
SequenceShape shape_of(const Transformer& model, const Observation& observation, const DecepticonKey& key,
                       const DecepticonOptions& options, bool noisy);

// UserError where the output bias shows another number of labels than so many sequences have. Says nothing of
// models without one of their own, of masked ones, and where counts are not whole.
void check_sequences(const Transformer& model, const Observation& observation, const SequenceShape& shape);

}  // namespace undertext
