// Which of the known models a config describes.
#pragma once

#include <optional>

#include "models/config_fields.h"
#include "models/transformer/config.h"

namespace undertext {

// The kind of transformer that a config's model_type names; nothing: a cifg-lstm. UserError for any other.
std::optional<TransformerKind> transformer_kind(const ConfigFields& fields);

}  // namespace undertext
