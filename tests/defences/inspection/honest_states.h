// States as honest servers send them: fresh from many initialisations, after training, after fine-tuning.
#pragma once

#include <memory>
#include <string>

#include "models/language_model.h"

namespace undertext {

struct HonestState {
  std::string says;  // "gpt2 64x2, glorot normal, 60 steps at 0.001"
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<LanguageModel> previous;  // the state of the round before; null: there was none
};

// A function of the index alone. Those of one range go through all kinds of models, sizes, initialisations
// and ways of training; cheap: only small sizes and few steps.
HonestState honest_state(std::int64_t index, bool cheap);

}  // namespace undertext
