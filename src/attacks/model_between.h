// Models on the line through the two that the adversary has.
#pragma once

#include <memory>

#include "federated/observation.h"
#include "models/cifg_lstm.h"

namespace undertext {

// before + t (after - before) over all trained tensors: 0 is what the client was sent, 1 what it sent back,
// and 1 + s the scaling of gboard-next-word, section 4.3.2. UserError when the model is not a CIFG LSTM, the
// one kind whose prefixes we read word by word.
std::shared_ptr<const CifgLstm> model_between(const Observation& observation, double t);

// Where on that line the contexts look most like they did on average over so many epochs: at the start for
// one step, half-way for a few, near the end for many, since the model moves fastest at first.
double typical_time(std::int64_t epochs);

}  // namespace undertext
