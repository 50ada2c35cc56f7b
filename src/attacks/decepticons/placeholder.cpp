#include "attacks/decepticons/corrupt.h"
#include "attacks/decepticons/readout.h"
#include "base/error.h"

namespace undertext {

void corrupt_for_exact_recovery(CorruptedState&, const CorruptOptions&) {
  fail("not part of this build yet");
}

DecepticonRecovery read_exactly(const Observation&, const DecepticonKey&, const DecepticonOptions&) {
  fail("not part of this build yet");
}

}  // namespace undertext
