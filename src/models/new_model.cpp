#include "models/new_model.h"

#include <unistd.h>

#include "base/error.h"
#include "models/char_lstm/char_lstm.h"
#include "models/cifg_config.h"
#include "models/cifg_lstm.h"
#include "models/config_fields.h"
#include "models/model_kind.h"
#include "models/transformer/transformer.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<LanguageModel> new_cifg(const fs::path& file, const Tokenizer& tokenizer, Seed seed) {
  const SpecialTokens special = tokenizer.special();
  if (!special.start || !special.end || !special.unknown)
    fail("{}: a cifg-lstm reads words between <S> and </S>, which this tokenizer does not have",
         file.string());
  CifgConfig config = read_cifg_config(file);
  config.vocabulary = tokenizer.size();
  config.start = *special.start;
  config.end = *special.end;
  config.unknown = *special.unknown;
  return CifgLstm::random(config, seed);
}

std::shared_ptr<LanguageModel> new_char_lstm(const ConfigFields& fields, const Tokenizer& tokenizer,
                                             bool padded, Seed seed) {
  CharLstmConfig config = read_char_lstm_config(fields);
  if (!padded || config.vocabulary < tokenizer.size()) config.vocabulary = tokenizer.size();
  return CharLstm::random(config, seed);
}

}  // namespace

std::shared_ptr<LanguageModel> new_model(const fs::path& file, const Tokenizer& tokenizer, bool padded,
                                         Seed seed) {
  const ConfigFields fields(file);
  const ModelKind kind = model_kind(fields);
  if (kind == ModelKind::cifg_lstm) return new_cifg(file, tokenizer, seed);
  if (kind == ModelKind::char_lstm) return new_char_lstm(fields, tokenizer, padded, seed);
  TransformerConfig config = read_transformer_config(fields, transformer_kind(fields));
  if (!padded || config.vocabulary < tokenizer.size()) config.vocabulary = tokenizer.size();
  const SpecialTokens special = tokenizer.special();
  config.start = special.start.value_or(-1);
  config.end = special.end.value_or(-1);
  config.padding = special.padding.value_or(-1);
  auto model = std::shared_ptr<Transformer>(Transformer::random(config, seed));
  model->set_mask(special.mask);
  return model;
}

void check_new_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)))
    fail("{}: is there already, expected a new folder", folder.string());
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, ignored))
    fail("{}: the folder {} does not exist", folder.string(), parent.string());
}

void save_model_folder(const LanguageModel& model, const Tokenizer& tokenizer, const fs::path& folder) {
  check_new_folder(folder);
  const fs::path clean = (folder / "").parent_path();  // without a slash at the end
  const fs::path temporary =
      clean.parent_path() / fmt::format(".{}.{}.tmp", clean.filename().string(), ::getpid());
  try {
    fs::create_directories(temporary);
    model.save(temporary);
    tokenizer.save(temporary);
    fs::remove(clean);  // an empty folder
    fs::rename(temporary, clean);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
}

}  // namespace undertext
