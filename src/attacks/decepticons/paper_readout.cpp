#include "attacks/decepticons/readout.h"
#include "base/error.h"

namespace undertext {

DecepticonRecovery read_as_in_paper(const Observation&, const DecepticonKey&, const DecepticonOptions&) {
  fail("not part of this build yet");
}

}  // namespace undertext
