#include "audit/public_model.h"

#include "audit/version.h"
#include "base/sha256.h"
#include "models/cifg_lstm.h"
#include "text/messages.h"
#include "text/spelling.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> public_messages(const PublicModelRecipe& recipe) {
  std::vector<std::string> messages = generate_messages(Seed(recipe.seed).derive("public"), recipe.messages);
  if (recipe.letters)
    for (std::string& message : messages) message = spelled(message);
  return messages;
}

std::string key_of(const PublicModelRecipe& recipe, const std::vector<std::string>& messages) {
  const Training& t = recipe.training;
  std::string facts =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}\n", kVersion, recipe.messages, recipe.vocabulary,
                  recipe.embedding, recipe.units, recipe.seed, t.epochs, t.batch, t.learning_rate,
                  t.adam.beta1, t.adam.beta2, t.adam.epsilon, t.adam.clip);
  for (const std::string& message : messages) facts += message + '\n';
  return sha256_of(facts);
}

ModelFolder train(const PublicModelRecipe& recipe, const std::vector<std::string>& messages,
                  Vocabulary vocabulary) {
  const Seed seed(recipe.seed);
  std::vector<Sentence> sentences;
  sentences.reserve(messages.size());
  for (const std::string& message : messages) sentences.push_back(vocabulary.encode(message));
  const CifgConfig config{.vocabulary = vocabulary.size(),
                          .embedding = recipe.embedding,
                          .units = recipe.units,
                          .end = vocabulary.end(),
                          .start = vocabulary.start(),
                          .unknown = vocabulary.unknown()};
  std::shared_ptr<LanguageModel> model = CifgLstm::random(config, seed.derive("weights"));
  const std::size_t some = std::min<std::size_t>(sentences.size(), 200);
  train_model(*model, sentences, std::span(sentences).first(some), recipe.training, seed.derive("training"));
  std::string hash = hash_of(model->parameters());
  return {std::move(model), std::make_shared<const Vocabulary>(std::move(vocabulary)), std::move(hash)};
}

}  // namespace

std::string public_model_key(const PublicModelRecipe& recipe) {
  return key_of(recipe, public_messages(recipe));
}

ModelFolder public_model(const PublicModelRecipe& recipe, const std::optional<fs::path>& cache,
                         const Note& note) {
  const std::vector<std::string> messages = public_messages(recipe);
  const Vocabulary vocabulary = build_vocabulary(messages, recipe.vocabulary);
  return cached_model(cache, fmt::format("keyboard-{:.16}", key_of(recipe, messages)), vocabulary, note, [&] {
    note(fmt::format("training the public model on {} public messages, once", recipe.messages));
    return train(recipe, messages, vocabulary);
  });
}

}  // namespace undertext
