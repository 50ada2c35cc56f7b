#include "models/load_model.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "models/cifg_lstm.h"
#include "text/load_tokenizer.h"
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
    if (words->start() != model.start_token())
      fail("{}: <S> is word {}, expected {} as the model's bos_token_id", file, words->start(),
           model.start_token());
  } else if (tokenizer.size() > rows) {
    fail("{}: its tokenizer has {} tokens, expected {} at most, the model's vocab_size", folder.string(),
         tokenizer.size(), rows);
  }
}

}  // namespace

std::shared_ptr<LanguageModel> load_model(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    fail("{}: no such folder, expected a model: config.json, model.safetensors, vocab.txt", folder.string());
  const std::filesystem::path file = folder / "config.json";
  const nlohmann::json config = nlohmann::json::parse(read_file(file), nullptr, false);
  if (config.is_discarded() || !config.is_object()) fail("{}: not a JSON object", file.string());
  const nlohmann::json type = config.value("model_type", nlohmann::json());
  if (type == "cifg-lstm") return CifgLstm::load(folder);
  if (!type.is_string()) fail("{}: \"model_type\" is missing, expected \"cifg-lstm\"", file.string());
  fail("{}: unknown \"model_type\" {}, expected \"cifg-lstm\"", file.string(), type.dump());
}

ModelFolder load_model_folder(const std::filesystem::path& folder) {
  std::shared_ptr<LanguageModel> model = load_model(folder);
  std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(folder);
  check_fit(*tokenizer, *model, folder);
  if (tokenizer->size() < model->vocabulary_size())
    tokenizer = std::make_shared<const PaddedTokenizer>(std::move(tokenizer), model->vocabulary_size());
  std::string hash = hash_of(model->parameters());
  return {std::move(model), std::move(tokenizer), std::move(hash)};
}

}  // namespace undertext
