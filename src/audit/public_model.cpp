#include "audit/public_model.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "audit/version.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "models/cifg_lstm.h"
#include "text/messages.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeal = "undertext.json";  // in the cached folder: the hash of the weights written

std::vector<std::string> public_messages(const PublicModelRecipe& recipe) {
  return generate_messages(Seed(recipe.seed).derive("public"), recipe.messages);
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

bool same_tokens(const Tokenizer& a, const Tokenizer& b) {
  if (a.size() != b.size()) return false;
  for (Token id = 0; id < a.size(); ++id)
    if (a.token(id) != b.token(id)) return false;
  return true;
}

// Nothing unless the folder holds exactly what was written into it.
std::optional<ModelFolder> read_cached(const fs::path& folder, const Vocabulary& vocabulary) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return std::nullopt;
  try {
    const nlohmann::json seal = nlohmann::json::parse(read_file(folder / kSeal), nullptr, false);
    ModelFolder cached = load_model_folder(folder);
    const bool whole = seal.is_object() && seal.value("hash", nlohmann::json()) == cached.hash &&
                       same_tokens(*cached.tokenizer, vocabulary);
    if (whole) return cached;
  } catch (const UserError&) {
    // Whatever is wrong with it, it is ours to make again.
  }
  return std::nullopt;
}

void write_cached(const fs::path& folder, const ModelFolder& trained) {
  std::error_code ignored;
  const fs::path temporary =
      folder.parent_path() / fmt::format(".{}.{}.tmp", folder.filename().string(), ::getpid());
  try {
    fs::create_directories(temporary);
    trained.model->save(temporary);
    trained.tokenizer->save(temporary);
    write_file(temporary / kSeal, nlohmann::json{{"hash", trained.hash}}.dump());
    fs::remove_all(folder);
    fs::rename(temporary, folder);
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
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

std::optional<fs::path> user_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  // The standard asks to ignore a relative path.
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "undertext";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "undertext";
  return std::nullopt;
}

std::string public_model_key(const PublicModelRecipe& recipe) {
  return key_of(recipe, public_messages(recipe));
}

ModelFolder public_model(const PublicModelRecipe& recipe, const std::optional<fs::path>& cache,
                         const Note& note) {
  const std::vector<std::string> messages = public_messages(recipe);
  Vocabulary vocabulary = build_vocabulary(messages, recipe.vocabulary);
  std::optional<fs::path> folder;
  if (cache) folder = *cache / fmt::format("keyboard-{:.16}", key_of(recipe, messages));
  if (folder) {
    std::optional<ModelFolder> cached = read_cached(*folder, vocabulary);
    if (cached) return std::move(*cached);
  }
  note(fmt::format("training the public model on {} public messages, once", recipe.messages));
  ModelFolder trained = train(recipe, messages, std::move(vocabulary));
  if (!folder) {
    note("neither XDG_CACHE_HOME nor HOME is set: the model is not kept");
    return trained;
  }
  try {
    write_cached(*folder, trained);
  } catch (const std::exception& error) {
    note(fmt::format("the model is not kept: {}", error.what()));
  }
  return trained;
}

}  // namespace undertext
