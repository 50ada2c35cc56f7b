// The transformers that experiments start from where no folder is given: of words, like the built-in
// keyboard.
#pragma once

#include <string>

#include "audit/model_cache.h"
#include "models/training.h"
#include "models/transformer/config.h"

namespace undertext {

// plain: the small encoder of decepticons with random weights, as its authors attack it. gpt2: a small GPT-2,
// trained on public messages.
struct TransformerRecipe {
  TransformerKind kind = TransformerKind::plain;
  std::int64_t messages = 6'000;    // public ones: the words, and what a gpt2 is trained on
  std::int64_t vocabulary = 2'000;  // words at most
  std::int64_t positions = 64;
  Training training = {.epochs = 4, .batch = 32, .learning_rate = 2e-3, .title = "training the public GPT-2"};
  std::uint64_t seed = 2024;
};

std::string public_transformer_key(const TransformerRecipe& recipe);

// The trained one is kept in cache/gpt2-KEY.
ModelFolder public_transformer(const TransformerRecipe& recipe,
                               const std::optional<std::filesystem::path>& cache, const Note& note);

}  // namespace undertext
