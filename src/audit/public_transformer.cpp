#include "audit/public_transformer.h"

#include <algorithm>

#include "audit/version.h"
#include "base/sha256.h"
#include "models/transformer/transformer.h"
#include "text/messages.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

std::vector<std::string> public_messages(const TransformerRecipe& recipe) {
  return generate_messages(Seed(recipe.seed).derive("public"), recipe.messages);
}

std::string key_of(const TransformerRecipe& recipe, const std::vector<std::string>& messages) {
  const Training& t = recipe.training;
  std::string facts =
      fmt::format("{} {} {} {} {} {} {} {} {}\n", kVersion, name_of(recipe.kind), recipe.messages,
                  recipe.vocabulary, recipe.positions, recipe.seed, t.epochs, t.batch, t.learning_rate);
  for (const std::string& message : messages) facts += message + '\n';
  return sha256_of(facts);
}

TransformerConfig config_of(const TransformerRecipe& recipe, const Vocabulary& vocabulary) {
  TransformerConfig config;  // the sizes of decepticons' small encoder
  config.kind = recipe.kind;
  config.vocabulary = vocabulary.size();
  config.positions = recipe.positions;
  config.start = vocabulary.start();
  config.end = vocabulary.end();
  if (recipe.kind == TransformerKind::gpt2) {
    config.width = 128;
    config.layers = 2;
    config.heads = 4;
    config.inner = 512;
    config.activation = Activation::gelu_tanh;
    config.norm_first = config.causal = config.tied = true;
  }
  return config;
}

ModelFolder made(const TransformerRecipe& recipe, const std::vector<std::string>& messages,
                 const Vocabulary& vocabulary) {
  const Seed seed(recipe.seed);
  std::shared_ptr<LanguageModel> model =
      Transformer::random(config_of(recipe, vocabulary), seed.derive("weights"));
  if (recipe.kind == TransformerKind::gpt2) {
    std::vector<Sentence> sentences;
    for (const std::string& message : messages) sentences.push_back(vocabulary.encode(message));
    const std::size_t some = std::min<std::size_t>(sentences.size(), 200);
    train_model(*model, sentences, std::span(sentences).first(some), recipe.training,
                seed.derive("training"));
  }
  std::string hash = hash_of(model->parameters());
  return {std::move(model), std::make_shared<const Vocabulary>(vocabulary), std::move(hash)};
}

}  // namespace

std::string public_transformer_key(const TransformerRecipe& recipe) {
  return key_of(recipe, public_messages(recipe));
}

ModelFolder public_transformer(const TransformerRecipe& recipe,
                               const std::optional<std::filesystem::path>& cache, const Note& note) {
  const std::vector<std::string> messages = public_messages(recipe);
  const Vocabulary vocabulary = build_vocabulary(messages, recipe.vocabulary);
  if (recipe.kind != TransformerKind::gpt2) return made(recipe, messages, vocabulary);
  return cached_model(cache, fmt::format("gpt2-{:.16}", key_of(recipe, messages)), vocabulary, note, [&] {
    note(fmt::format("training a small GPT-2 on {} public messages, once", recipe.messages));
    return made(recipe, messages, vocabulary);
  });
}

}  // namespace undertext
