#include "models/model_kind.h"

namespace undertext {

std::optional<TransformerKind> transformer_kind(const ConfigFields& fields) {
  for (const TransformerKind kind : {TransformerKind::gpt2, TransformerKind::bert, TransformerKind::plain})
    if (fields.value("model_type", "") == name_of(kind)) return kind;
  if (fields.value("model_type", "") != "cifg-lstm")
    fields.refuse("model_type", "cifg-lstm, gpt2, bert or transformer");
  return std::nullopt;
}

}  // namespace undertext
