// The model that the built-in audit starts from: trained here on public messages, kept for the next time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "audit/model_cache.h"
#include "models/load_model.h"
#include "models/training.h"

namespace undertext {

// Everything that determines the model. It does not depend on the seed of an audit, whose clients are then
// compared on the same model.
struct PublicModelRecipe {
  std::int64_t messages = 20'000;
  std::int64_t vocabulary = 2'000;  // words at most
  std::int64_t embedding = 64;
  std::int64_t units = 192;
  Training training{.title = "training the public model"};
  std::uint64_t seed = 2024;
  bool letters = false;  // the messages letter by letter, as text/spelling.h has them
};

// A hash of the recipe, its messages and the version of the program: known before anything is trained.
std::string public_model_key(const PublicModelRecipe& recipe);

// The model of the recipe, kept in cache/keyboard-KEY, where KEY begins public_model_key(recipe).
ModelFolder public_model(const PublicModelRecipe& recipe, const std::optional<std::filesystem::path>& cache,
                         const Note& note);

}  // namespace undertext
