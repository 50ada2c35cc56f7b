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

}  // namespace undertext
