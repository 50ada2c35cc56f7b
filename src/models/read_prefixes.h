// A reader of prefixes for any model that reads from left to right.
#pragma once

#include <memory>

#include "models/language_model.h"
#include "models/prefix_reader.h"

namespace undertext {

// UserError for a masked model, which has no next word.
std::unique_ptr<PrefixReader> read_prefixes(std::shared_ptr<const LanguageModel> model);

}  // namespace undertext
