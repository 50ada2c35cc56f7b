#include "models/read_prefixes.h"

#include "base/error.h"
#include "models/char_lstm/reader.h"
#include "models/transformer/reader.h"

namespace undertext {

std::unique_ptr<PrefixReader> read_prefixes(std::shared_ptr<const LanguageModel> model) {
  if (auto cifg = std::dynamic_pointer_cast<const CifgLstm>(model))
    return std::make_unique<CifgReader>(std::move(cifg));
  if (const auto characters = std::dynamic_pointer_cast<const CharLstm>(model))
    return std::make_unique<CharLstmReader>(*characters);
  auto transformer = std::dynamic_pointer_cast<const Transformer>(model);
  if (!transformer || !transformer->config().causal)
    fail("a {} does not read from left to right, expected a model that predicts the next token",
         model->kind());
  return std::make_unique<TransformerReader>(std::move(transformer));
}

}  // namespace undertext
