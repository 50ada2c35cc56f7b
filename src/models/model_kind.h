// Which of the known models a config describes.
#pragma once

#include "models/config_fields.h"
#include "models/transformer/config.h"

namespace undertext {

enum class ModelKind { transformer, cifg_lstm, char_lstm };

// By a config's model_type. UserError for any other.
ModelKind model_kind(const ConfigFields& fields);
// Which of the transformers; the config must be of one.
TransformerKind transformer_kind(const ConfigFields& fields);

}  // namespace undertext
