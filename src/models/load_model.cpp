#include "models/load_model.h"

#include "base/error.h"
#include "models/char_lstm/char_lstm.h"
#include "models/cifg_lstm.h"
#include "models/config_fields.h"
#include "models/model_kind.h"
#include "models/transformer/transformer.h"
#include "text/load_tokenizer.h"
#include "text/number_tokenizer.h"
#include "text/padded_tokenizer.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

// Vocabularies of tokens are often padded to a round number of rows; the keyboard's words never are.
void check_fit(const Tokenizer& tokenizer, const LanguageModel& model, const std::filesystem::path& folder) {
  const std::int64_t rows = model.vocabulary_size();
  if (const auto* words = dynamic_cast<const Vocabulary*>(&tokenizer)) {
    const std::string file = (folder / "vocab.txt").string();
    if (words->size() != rows)
      fail("{}: {} words, expected {} as the model's vocab_size", file, words->size(), rows);
    if (model.start_token() != kNoToken && words->start() != model.start_token())
      fail("{}: <S> is word {}, expected {} as the model's bos_token_id", file, words->start(),
           model.start_token());
  } else if (tokenizer.size() > rows) {
    fail("{}: its tokenizer has {} tokens, expected {} at most, the model's vocab_size", folder.string(),
         tokenizer.size(), rows);
  }
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    fail("{}: no such folder, expected a model: config.json, weights and tokenizer", folder.string());
  const ConfigFields fields(folder / "config.json");
  LoadedModel loaded;
  const ModelKind kind = model_kind(fields);
  if (kind == ModelKind::transformer) {
    loaded.model =
        Transformer::load(folder, read_transformer_config(fields, transformer_kind(fields)), &loaded.hash);
    return loaded;
  }
  if (kind == ModelKind::char_lstm)
    loaded.model = CharLstm::load(folder);
  else
    loaded.model = CifgLstm::load(folder);
  loaded.hash = hash_of(loaded.model->parameters());
  return loaded;
}

ModelFolder load_model_folder(const std::filesystem::path& folder) {
  LoadedModel loaded = load_model(folder);
  const std::int64_t rows = loaded.model->vocabulary_size();
  std::shared_ptr<const Tokenizer> tokenizer;
  if (has_tokenizer(folder))  // without one the texts of a model come as token ids
    tokenizer = load_tokenizer(folder);
  else
    tokenizer = std::make_shared<const NumberTokenizer>(rows);
  check_fit(*tokenizer, *loaded.model, folder);
  if (tokenizer->size() < rows)
    tokenizer = std::make_shared<const PaddedTokenizer>(std::move(tokenizer), rows);
  if (auto* transformer = dynamic_cast<Transformer*>(loaded.model.get()))
    transformer->set_mask(tokenizer->special().mask);
  return {std::move(loaded.model), std::move(tokenizer), std::move(loaded.hash)};
}

}  // namespace undertext
