#include "models/model_kind.h"

#include <optional>

#include "base/error.h"

namespace undertext {
namespace {

std::optional<TransformerKind> find_transformer(const ConfigFields& fields) {
  for (const TransformerKind kind : {TransformerKind::gpt2, TransformerKind::bert, TransformerKind::plain})
    if (fields.value("model_type", "") == name_of(kind)) return kind;
  return std::nullopt;
}

}  // namespace

ModelKind model_kind(const ConfigFields& fields) {
  if (find_transformer(fields)) return ModelKind::transformer;
  if (fields.value("model_type", "") == "char-lstm") return ModelKind::char_lstm;
  if (fields.value("model_type", "") != "cifg-lstm")
    fields.refuse("model_type", "cifg-lstm, char-lstm, gpt2, bert or transformer");
  return ModelKind::cifg_lstm;
}

TransformerKind transformer_kind(const ConfigFields& fields) {
  const std::optional<TransformerKind> kind = find_transformer(fields);
  UNDERTEXT_CHECK(kind.has_value());
  return *kind;
}

}  // namespace undertext
