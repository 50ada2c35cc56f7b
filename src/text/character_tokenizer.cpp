#include "text/character_tokenizer.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr char32_t kUnknown = 0xFFFD;

}  // namespace

CharacterTokenizer::CharacterTokenizer(std::u32string characters, const std::string& source)
    : characters_(std::move(characters)) {
  if (characters_.find(kUnknown) == std::u32string::npos) characters_ += kUnknown;
  for (std::size_t id = 0; id < characters_.size(); ++id) {
    if (!ids_.insert(characters_[id], static_cast<std::uint32_t>(id)))
      fail("{}: the character {} is there twice", source, quote(token(static_cast<Token>(id))));
  }
  unknown_ = static_cast<Token>(ids_.find(kUnknown));
}

CharacterTokenizer CharacterTokenizer::parse(std::string_view json, const std::string& source) {
  const nlohmann::json list = nlohmann::json::parse(json, nullptr, false);
  if (!list.is_array() || list.empty()) fail("{}: expected a JSON list of characters", source);
  std::u32string characters;
  for (const nlohmann::json& entry : list) {
    const auto* text = entry.get_ptr<const std::string*>();
    const auto character = text ? decode_utf8(*text, 0) : std::nullopt;
    if (!character || character->bytes != text->size())
      fail("{}: entry {} is not a string of one character", source, characters.size());
    characters += character->value;
  }
  return {std::move(characters), source};
}

SpecialTokens CharacterTokenizer::special() const {
  SpecialTokens special;
  special.unknown = unknown_;
  return special;
}

Sentence CharacterTokenizer::encode(std::string_view text) const {
  Sentence tokens;
  tokens.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto character = decode_utf8(text, i);
    const std::uint32_t id = character ? ids_.find(character->value) : FlatTable::kNothing;
    tokens.push_back(id == FlatTable::kNothing ? unknown_ : static_cast<Token>(id));
    i += character ? character->bytes : 1;
  }
  return tokens;
}

std::string CharacterTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token id : tokens) append_utf8(text, characters_.at(static_cast<std::size_t>(id)));
  return text;
}

std::string CharacterTokenizer::token(Token id) const {
  return decode(std::span(&id, 1));
}

void CharacterTokenizer::save(const std::filesystem::path& folder) const {
  nlohmann::json list = nlohmann::json::array();
  for (Token id = 0; id < size(); ++id) list.push_back(token(id));
  write_file(folder / "characters.json", list.dump());
}

CharacterTokenizer build_characters(std::span<const std::string> texts) {
  std::set<char32_t> seen;
  for (const std::string& text : texts) {
    for (std::size_t i = 0; i < text.size();) {
      const auto character = decode_utf8(text, i);
      if (character) seen.insert(character->value);
      i += character ? character->bytes : 1;
    }
  }
  seen.erase(kUnknown);
  std::u32string characters(1, kUnknown);
  characters.append(seen.begin(), seen.end());
  return {std::move(characters), "the characters"};
}

}  // namespace undertext
