// The models and texts that experiments name, each read once, whichever thread asks first.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "audit/public_model.h"
#include "models/load_model.h"

namespace undertext {

inline constexpr const char* kBuiltIn = "built-in";
inline constexpr const char* kRandom = "random";  // texts: tokens drawn at random

// The built-in models: the keyboard, and those of public_transformer().
bool is_built_in_model(const std::string& place);
// Whether it has random weights, and so may have any tokenizer's tokens: place "NAME@FOLDER".
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

  struct Texts {
    std::vector<std::string> lines;
    std::string hash;  // of the file's bytes
  };
  std::shared_ptr<const Texts> texts(const std::filesystem::path& file);

 private:
  std::shared_ptr<const ModelFolder> read_model(const std::string& place);  // with the mutex held

  Note note_;
  std::optional<std::filesystem::path> cache_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ModelFolder>> models_;
  std::map<std::string, std::string> hashes_;
  std::map<std::string, std::shared_ptr<const Texts>> texts_;
};

}  // namespace undertext
