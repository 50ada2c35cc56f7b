#include "text/load_tokenizer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "text/character_tokenizer.h"
#include "text/token_list.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary.h"
#include "text/word_piece_tokenizer.h"

namespace undertext {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLimit = std::size_t{256} << 20;  // bytes

// What tokenizer_config.json says of a vocab.txt; all of it is optional, and so is the file.
BertRules rules_in(const fs::path& folder) {
  BertRules rules;
  const fs::path file = folder / "tokenizer_config.json";
  if (!fs::exists(file)) return rules;
  const nlohmann::json config = nlohmann::json::parse(read_file(file, kFileLimit), nullptr, false);
  if (!config.is_object()) fail("{}: not a JSON object", file.string());
  const auto flag = [&](const char* name, bool usual) {
    const nlohmann::json value = config.value(name, nlohmann::json());
    if (value.is_null()) return usual;
    if (!value.is_boolean()) fail("{}: \"{}\" is neither true nor false", file.string(), name);
    return value.get<bool>();
  };
  rules.lowercase = flag("do_lower_case", true);
  rules.strip_accents = flag("strip_accents", rules.lowercase);
  rules.handle_chinese_chars = flag("tokenize_chinese_chars", true);
  return rules;
}

bool has_line(std::string_view content, std::string_view line) {
  for (std::size_t at = content.find(line); at != std::string_view::npos; at = content.find(line, at + 1)) {
    const std::size_t end = at + line.size();
    if ((at == 0 || content[at - 1] == '\n') && (end == content.size() || content[end] == '\n')) return true;
  }
  return false;
}

}  // namespace

bool has_tokenizer(const fs::path& folder) {
  constexpr std::array kFiles = {"tokenizer.json", "vocab.json", "characters.json", "vocab.txt"};
  return std::ranges::any_of(kFiles, [&](const char* name) { return fs::exists(folder / name); });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const fs::path& folder) {
  if (!fs::is_directory(folder)) fail("{}: no such folder, expected tokenizer files", folder.string());
  const auto there = [&](const char* name) { return fs::exists(folder / name); };
  const auto content = [&](const char* name) { return read_file(folder / name, kFileLimit); };
  const auto name_of = [&](const char* name) { return (folder / name).string(); };
  if (there("tokenizer.json"))
    return parse_tokenizer_json(content("tokenizer.json"), name_of("tokenizer.json"));
  if (there("vocab.json") && there("merges.txt"))
    return parse_byte_pairs(content("vocab.json"), content("merges.txt"), name_of("vocab.json"),
                            name_of("merges.txt"));
  if (there("characters.json"))
    return std::make_shared<const CharacterTokenizer>(
        CharacterTokenizer::parse(content("characters.json"), name_of("characters.json")));
  if (!there("vocab.txt"))
    fail(
        "{}: no tokenizer files, expected tokenizer.json, vocab.json and merges.txt, characters.json or "
        "vocab.txt",
        folder.string());
  const std::string vocabulary = content("vocab.txt");
  const bool words = has_line(vocabulary, "<S>") && has_line(vocabulary, "</S>");
  if (!words && has_line(vocabulary, "[UNK]"))
    return WordPieceTokenizer::parse(vocabulary, rules_in(folder), name_of("vocab.txt"));
  return std::make_shared<const Vocabulary>(Vocabulary::parse(vocabulary, name_of("vocab.txt")));
}

}  // namespace undertext
