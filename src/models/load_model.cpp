#include "models/load_model.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "models/cifg_lstm.h"

namespace undertext {

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
  const std::filesystem::path file = folder / "vocab.txt";
  Vocabulary vocabulary = Vocabulary::load(file);
  if (vocabulary.size() != model->vocabulary_size())
    fail("{}: {} words, expected {} as the model's vocab_size", file.string(), vocabulary.size(),
         model->vocabulary_size());
  if (vocabulary.start() != model->start_token())
    fail("{}: <S> is word {}, expected {} as the model's bos_token_id", file.string(), vocabulary.start(),
         model->start_token());
  std::string hash = hash_of(model->parameters());
  return {std::move(model), std::move(vocabulary), std::move(hash)};
}

}  // namespace undertext
