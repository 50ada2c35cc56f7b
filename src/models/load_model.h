// Any model folder, whatever its kind.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "models/language_model.h"
#include "text/tokenizer.h"

namespace undertext {

struct LoadedModel {
  std::shared_ptr<LanguageModel> model;
  std::string hash;  // hash_of(model->parameters())
};

// The model that config.json's model_type names; UserError for a kind that undertext does not know.
LoadedModel load_model(const std::filesystem::path& folder);

struct ModelFolder {
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string hash;  // hash_of(model->parameters())
};

// The model with its tokenizer; UserError when the two do not fit.
ModelFolder load_model_folder(const std::filesystem::path& folder);

}  // namespace undertext
