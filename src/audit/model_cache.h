// Built-in models, made once and kept for the next time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "models/load_model.h"

namespace undertext {

// $XDG_CACHE_HOME/undertext, else ~/.cache/undertext; nothing where neither variable is set.
std::optional<std::filesystem::path> user_cache();

using Note = std::function<void(const std::string&)>;

// The model in cache/name. What is missing there, is not what was written, or has other tokens than
// `tokenizer` is made again and put in its place as one whole folder. A cache that cannot be written costs
// time alone: `note` is told.
ModelFolder cached_model(const std::optional<std::filesystem::path>& cache, const std::string& name,
                         const Tokenizer& tokenizer, const Note& note,
                         const std::function<ModelFolder()>& make);

}  // namespace undertext
