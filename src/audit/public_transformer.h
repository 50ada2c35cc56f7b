// The transformers that experiments start from where no folder is given: of words, like the built-in
// keyboard, or of the tokens of a tokenizer.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/model_cache.h"
#include "models/training.h"
#include "models/transformer/config.h"

namespace undertext {

struct TransformerRecipe {
  TransformerConfig config;              // its vocabulary is the tokenizer's
  bool trained = false;                  // on the public messages; otherwise random weights
  std::int64_t messages = 6'000;         // public ones: the words, and what is trained on
  std::int64_t vocabulary = 2'000;       // words at most
  std::filesystem::path tokenizer = {};  // folder with a tokenizer's files; empty: words
  // With a tokenizer: a file of texts; of the tokens only those that it needs. Empty: all.
  std::filesystem::path restrict_to = {};
  Training training = {.epochs = 4, .batch = 32, .learning_rate = 2e-3, .title = "training the public GPT-2"};
  std::uint64_t seed = 2024;
};

// "built-in:NAME"; nothing for other names. With random weights, as decepticons' authors attack them:
//   transformer, transformer-gelu   the small encoder of decepticons, section 4, with ReLU as there or GELU
//   gpt2-small, bert-base           the published sizes, with their dropout
//   gpt2-mini, bert-mini            the same with fewer and narrower layers
//   gpt2-2x128, gpt2-4x256          GPT-2 of so many layers and such a width, for 64 tokens, without dropout
// and gpt2, a small one that is trained on public messages.
std::optional<TransformerRecipe> recipe_named(const std::string& place);

std::string public_transformer_key(const TransformerRecipe& recipe);

// The trained one is kept in cache/gpt2-KEY.
ModelFolder public_transformer(const TransformerRecipe& recipe,
                               const std::optional<std::filesystem::path>& cache, const Note& note);

}  // namespace undertext
