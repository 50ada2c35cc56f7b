#include "audit/experiment/sources.h"

#include "audit/federation/char_lstm_recipe.h"
#include "audit/public_transformer.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "text/corpus.h"

namespace undertext {
namespace {

// The recipe that a place names; nothing: not a transformer's.
std::optional<TransformerRecipe> transformer_recipe(const std::string& place) {
  const std::size_t at = place.find('@');
  std::optional<TransformerRecipe> recipe = recipe_named(place.substr(0, at));
  if (recipe && at != std::string::npos) {
    const std::size_t line = place.find('\n', at);
    recipe->tokenizer = place.substr(at + 1, line == std::string::npos ? line : line - at - 1);
    if (line != std::string::npos) recipe->restrict_to = place.substr(line + 1);
  }
  return recipe;
}

void check_has_alphabet(const std::string& place) {
  if (char_lstm_named(place))
    fail("{}: its alphabet is that of a federation's texts, expected federation.rounds above 0", place);
}

}  // namespace

bool is_built_in_model(const std::string& place) {
  return place == kBuiltIn || transformer_recipe(place) || char_lstm_named(place);
}

bool takes_tokenizer(const std::string& place) {
  const std::optional<TransformerRecipe> recipe = transformer_recipe(place);
  return recipe && !recipe->trained;
}

std::shared_ptr<const ModelFolder> Sources::model(const std::string& place) {
  check_has_alphabet(place);
  const std::lock_guard lock(mutex_);
  return read_model(place);
}

std::shared_ptr<const ModelFolder> Sources::read_model(const std::string& place) {
  std::shared_ptr<const ModelFolder>& known = models_[place];
  if (!known) {
    const std::optional<TransformerRecipe> recipe = transformer_recipe(place);
    known = std::make_shared<const ModelFolder>(recipe ? public_transformer(*recipe, cache_, note_)
                                                : place == kBuiltIn ? public_model({}, cache_, note_)
                                                                    : load_model_folder(place));
  }
  return known;
}

std::string Sources::model_hash(const std::string& place) {
  check_has_alphabet(place);
  const std::lock_guard lock(mutex_);
  if (const auto found = hashes_.find(place); found != hashes_.end()) return found->second;
  std::string hash;
  if (const std::optional<TransformerRecipe> recipe = transformer_recipe(place)) {
    hash = public_transformer_key(*recipe);
  } else if (place == kBuiltIn) {
    hash = public_model_key({});
  } else {
    const std::shared_ptr<const ModelFolder> folder = read_model(place);
    Sha256 sum;
    sum.add_string(folder->hash);
    for (Token id = 0; id < folder->tokenizer->size(); ++id) sum.add_string(folder->tokenizer->token(id));
    hash = sum.hex();
  }
  return hashes_.emplace(place, hash).first->second;
}

std::shared_ptr<const ModelFolder> Sources::trained(const std::string& key, const Tokenizer& tokenizer,
                                                    const std::function<ModelFolder()>& make) {
  const std::lock_guard lock(training_mutex_);
  std::weak_ptr<const ModelFolder>& known = trained_[key];
  if (std::shared_ptr<const ModelFolder> there = known.lock()) return there;
  auto made = std::make_shared<const ModelFolder>(
      cached_model(cache_, "trained-" + key.substr(0, 16), tokenizer, note_, make));
  known = made;
  return made;
}

std::shared_ptr<const Sources::Texts> Sources::texts(const std::filesystem::path& file) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Texts>& known = texts_[file.string()];
  if (!known) known = std::make_shared<const Texts>(Texts{read_lines(file), sha256_of(read_file(file))});
  return known;
}

std::shared_ptr<const Sources::Entities> Sources::entities(const std::filesystem::path& file) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Entities>& known = entities_[file.string()];
  if (!known)
    known = std::make_shared<const Entities>(Entities{read_entities(file), sha256_of(read_file(file))});
  return known;
}

}  // namespace undertext
