// Models that are not there yet: random weights by a config, and folders written whole.
#pragma once

#include <filesystem>
#include <memory>

#include "base/random.h"
#include "models/language_model.h"
#include "text/tokenizer.h"

namespace undertext {

// A model of the config's kind and sizes for this tokenizer's tokens, with random weights. The config's own
// vocab_size counts where it is larger than the tokenizer and `padded` allows it.
std::shared_ptr<LanguageModel> new_model(const std::filesystem::path& config, const Tokenizer& tokenizer,
                                         bool padded, Seed seed);

// config.json, model.safetensors and the tokenizer's files, into a folder that appears whole or not at all.
// UserError when something other than an empty folder is there already.
void save_model_folder(const LanguageModel& model, const Tokenizer& tokenizer,
                       const std::filesystem::path& folder);
// The same check beforehand, before hours of work.
void check_new_folder(const std::filesystem::path& folder);

}  // namespace undertext
