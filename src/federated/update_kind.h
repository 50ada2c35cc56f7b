// What another framework's update is, when nobody says: weights, what was added to them, or a gradient.
#pragma once

#include "federated/update.h"

namespace undertext {

// Weights lie near the model's own. What is added to weights goes against the gradient: the output layer
// tells the two apart, because typed words are few and move far one way, and all others a little the other
// way; where it has no bias, because the words that were not typed move as they do for any other text.
UpdateKind infer_kind(const LanguageModel& model, const NamedTensors& update);

}  // namespace undertext
