// The models and texts that experiments name, each read once, whichever thread asks first.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "audit/public_model.h"
#include "models/load_model.h"
#include "text/entities.h"

namespace undertext {

inline constexpr const char* kBuiltIn = "built-in";
inline constexpr const char* kRandom = "random";  // texts: tokens drawn at random

// The built-in models: the keyboard, those of public_transformer(), and for federations those of
// char_lstm_named(), which have no alphabet of their own and are not to be had here.
bool is_built_in_model(const std::string& place);
// Whether it has random weights, and so may have any tokenizer's tokens: place "NAME@FOLDER", and, cut down
// to those that a file of texts needs, "NAME@FOLDER", a line feed and the file.
bool takes_tokenizer(const std::string& place);

class Sources {
 public:
  explicit Sources(Note note, std::optional<std::filesystem::path> cache = user_cache())
      : note_(std::move(note)), cache_(std::move(cache)) {}

  // place: a folder, or a built-in model, with its tokenizer's folder or without.
  std::shared_ptr<const ModelFolder> model(const std::string& place);
  // A name for the model's content: weights and tokens, or the recipe of the built-in one, which is not
  // trained for this.
  std::string model_hash(const std::string& place);

  // A model that is trained on a cell's texts: made once for all cells that attack it, and kept in the cache.
  // key: of everything that it depends on.
  std::shared_ptr<const ModelFolder> trained(const std::string& key, const Tokenizer& tokenizer,
                                             const std::function<ModelFolder()>& make);

  struct Texts {
    std::vector<std::string> lines;
    std::string hash;  // of the file's bytes
  };
  std::shared_ptr<const Texts> texts(const std::filesystem::path& file);

  struct Entities {
    EntityFinder finder;
    std::string hash;  // of the file's bytes
  };
  std::shared_ptr<const Entities> entities(const std::filesystem::path& file);

 private:
  std::shared_ptr<const ModelFolder> read_model(const std::string& place);  // with the mutex held

  Note note_;
  std::optional<std::filesystem::path> cache_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ModelFolder>> models_;
  std::map<std::string, std::string> hashes_;
  std::mutex training_mutex_;  // held while a model is trained: others may want the same
  std::map<std::string, std::weak_ptr<const ModelFolder>> trained_;
  std::map<std::string, std::shared_ptr<const Texts>> texts_;
  std::map<std::string, std::shared_ptr<const Entities>> entities_;
};

}  // namespace undertext
