#include "audit/model_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeal = "undertext.json";  // in the cached folder: the hash of the weights written

bool same_tokens(const Tokenizer& a, const Tokenizer& b) {
  if (a.size() != b.size()) return false;
  for (Token id = 0; id < a.size(); ++id)
    if (a.token(id) != b.token(id)) return false;
  return true;
}

// Nothing unless the folder holds exactly what was written into it.
std::optional<ModelFolder> read_cached(const fs::path& folder, const Tokenizer& tokenizer) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return std::nullopt;
  try {
    const nlohmann::json seal = nlohmann::json::parse(read_file(folder / kSeal), nullptr, false);
    ModelFolder cached = load_model_folder(folder);
    const bool whole = seal.is_object() && seal.value("hash", nlohmann::json()) == cached.hash &&
                       same_tokens(*cached.tokenizer, tokenizer);
    if (whole) return cached;
  } catch (const UserError&) {
    // Whatever is wrong with it, it is ours to make again.
  }
  return std::nullopt;
}

void write_cached(const fs::path& folder, const ModelFolder& made) {
  std::error_code ignored;
  const fs::path temporary =
      folder.parent_path() / fmt::format(".{}.{}.tmp", folder.filename().string(), ::getpid());
  try {
    fs::create_directories(temporary);
    made.model->save(temporary);
    made.tokenizer->save(temporary);
    write_file(temporary / kSeal, nlohmann::json{{"hash", made.hash}}.dump());
    fs::remove_all(folder);
    fs::rename(temporary, folder);
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
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

ModelFolder cached_model(const std::optional<fs::path>& cache, const std::string& name,
                         const Tokenizer& tokenizer, const Note& note,
                         const std::function<ModelFolder()>& make) {
  if (cache) {
    std::optional<ModelFolder> cached = read_cached(*cache / name, tokenizer);
    if (cached) return std::move(*cached);
  }
  ModelFolder made = make();
  if (!cache) {
    note("neither XDG_CACHE_HOME nor HOME is set: the model is not kept");
    return made;
  }
  try {
    write_cached(*cache / name, made);
  } catch (const std::exception& error) {
    note(fmt::format("the model is not kept: {}", error.what()));
  }
  return made;
}

}  // namespace undertext
