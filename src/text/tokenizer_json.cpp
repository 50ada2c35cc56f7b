#include "text/tokenizer_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/byte_pair_tokenizer.h"
#include "text/token_list.h"
#include "text/word_piece_tokenizer.h"

namespace undertext {
namespace {

using nlohmann::json;

json parse_object(std::string_view text, const std::string& source) {
  json file = json::parse(text, nullptr, false);
  if (!file.is_object()) fail("{}: not a JSON object", source);
  return file;
}

// A field that may be missing; null then.
const json& field(const json& object, const char* name) {
  static const json nothing;
  const auto place = object.find(name);
  return place == object.end() ? nothing : *place;
}

// What a part of a tokenizer calls itself; "null" where it has none.
std::string type_of(const json& part) {
  if (part.is_null()) return "null";
  const json& type = part.is_object() ? field(part, "type") : json();
  return type.is_string() ? type.get<std::string>() : "no type";
}

bool flag(const json& object, const char* name, bool usual, const std::string& source) {
  const json& value = field(object, name);
  if (value.is_null()) return usual;
  if (!value.is_boolean()) fail("{}: \"{}\" is neither true nor false", source, name);
  return value.get<bool>();
}

void expect_type(const json& file, const char* part, const char* type, const std::string& source) {
  const std::string found = type_of(field(file, part));
  if (found != type) fail("{}: its {} is {}, expected {}", source, part, quote(found), quote(type));
}

// Refuses a setting that would change what encode gives: false, null, "" and 0 are what is usual.
void expect_unset(const json& object, const char* name, const std::string& source) {
  const json& value = field(object, name);
  if (value.is_null() || value == false || value == "" || value == 0) return;
  fail("{}: \"{}\" is set, which is not supported", source, name);
}

std::vector<AddedToken> added_of(const json& file, const std::string& source) {
  std::vector<AddedToken> added;
  const json& list = field(file, "added_tokens");
  if (list.is_null()) return added;
  if (!list.is_array()) fail("{}: \"added_tokens\" is no list", source);
  for (const json& entry : list) {
    if (!entry.is_object() || !field(entry, "content").is_string() ||
        !field(entry, "id").is_number_unsigned())
      fail("{}: added token {} lacks its \"content\" or its \"id\"", source, added.size());
    AddedToken token{.content = entry.at("content"),
                     .special = flag(entry, "special", false, source),
                     .strip_left = flag(entry, "lstrip", false, source),
                     .strip_right = flag(entry, "rstrip", false, source)};
    const auto id = entry.at("id").get<std::uint64_t>();
    if (id > static_cast<std::uint64_t>(std::numeric_limits<Token>::max()))
      fail("{}: the added token {} has the id {}, expected ids from 0 on without a gap", source,
           quote(token.content), id);
    token.id = static_cast<Token>(id);
    if (flag(entry, "single_word", false, source))
      fail("{}: the added token {} is \"single_word\", which is not supported", source, quote(token.content));
    // Such a token is looked for in the normalised text, which differs only where there is a normaliser.
    if (flag(entry, "normalized", false, source) && !field(file, "normalizer").is_null())
      fail("{}: the added token {} is \"normalized\", which is not supported", source, quote(token.content));
    added.push_back(std::move(token));
  }
  return added;
}

// "a b" or ["a", "b"].
std::pair<std::string, std::string> merge_of(const json& merge, std::size_t number,
                                             const std::string& source) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0], merge[1]};
  if (const auto* text = merge.get_ptr<const std::string*>()) {
    const std::size_t space = text->find(' ');
    if (space != std::string::npos && text->find(' ', space + 1) == std::string::npos)
      return {text->substr(0, space), text->substr(space + 1)};
  }
  fail("{}: merge {} is not two tokens", source, number);
}

std::shared_ptr<const Tokenizer> byte_pairs(const json& file, const std::string& source) {
  expect_type(file, "normalizer", "null", source);
  expect_type(file, "pre_tokenizer", "ByteLevel", source);
  expect_type(file, "decoder", "ByteLevel", source);
  expect_unset(file.at("pre_tokenizer"), "add_prefix_space", source);
  if (!flag(file.at("pre_tokenizer"), "use_regex", true, source))
    fail("{}: its pre_tokenizer does not cut words (\"use_regex\" is false), which is not supported", source);
  const json& model = file.at("model");
  for (const char* name :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges"})
    expect_unset(model, name, source);
  BytePairParts parts;
  parts.added = added_of(file, source);
  parts.tokens = tokens_by_id(field(model, "vocab"), parts.added, source);
  parts.restricted = flag(file, "restricted", false, source);
  const json& merges = field(model, "merges");
  if (!merges.is_array()) fail("{}: \"merges\" is no list", source);
  parts.merges.reserve(merges.size());
  for (const json& merge : merges) parts.merges.push_back(merge_of(merge, parts.merges.size() + 1, source));
  return std::make_shared<const BytePairTokenizer>(std::move(parts), source);
}

std::shared_ptr<const Tokenizer> word_pieces(const json& file, const std::string& source) {
  expect_type(file, "pre_tokenizer", "BertPreTokenizer", source);
  const json &normalizer = field(file, "normalizer"), &decoder = field(file, "decoder"),
             &model = file.at("model");
  WordPieceParts parts;
  if (normalizer.is_null()) {
    parts.rules = {
        .clean_text = false, .handle_chinese_chars = false, .strip_accents = false, .lowercase = false};
  } else {
    expect_type(file, "normalizer", "BertNormalizer", source);
    parts.rules.clean_text = flag(normalizer, "clean_text", true, source);
    parts.rules.handle_chinese_chars = flag(normalizer, "handle_chinese_chars", true, source);
    parts.rules.lowercase = flag(normalizer, "lowercase", true, source);
    parts.rules.strip_accents = flag(normalizer, "strip_accents", parts.rules.lowercase, source);
  }
  if (!decoder.is_null()) expect_type(file, "decoder", "WordPiece", source);
  const json &unknown = field(model, "unk_token"), &longest = field(model, "max_input_chars_per_word"),
             &prefix = field(model, "continuing_subword_prefix");
  if (!prefix.is_null() && prefix != "##")
    fail("{}: \"continuing_subword_prefix\" is {}, expected \"##\"", source, quote(prefix.dump()));
  if (!unknown.is_null()) {
    if (!unknown.is_string()) fail("{}: \"unk_token\" is no string", source);
    parts.unknown = unknown;
  }
  if (!longest.is_null()) {
    if (!longest.is_number_unsigned() || longest.get<std::uint64_t>() > 1'000'000)
      fail("{}: \"max_input_chars_per_word\" is not a whole number of at most 1000000", source);
    parts.longest_word = longest;
  }
  parts.added = added_of(file, source);
  parts.tokens = tokens_by_id(field(model, "vocab"), parts.added, source);
  return std::make_shared<const WordPieceTokenizer>(std::move(parts), source);
}

}  // namespace

std::shared_ptr<const Tokenizer> parse_tokenizer_json(std::string_view text, const std::string& source) {
  const json file = parse_object(text, source);
  const std::string type = type_of(field(file, "model"));
  if (type == "BPE") return byte_pairs(file, source);
  if (type == "WordPiece") return word_pieces(file, source);
  fail("{}: its model is {}, expected \"BPE\" or \"WordPiece\"", source, quote(type));
}

std::shared_ptr<const Tokenizer> parse_byte_pairs(std::string_view vocabulary, std::string_view merges,
                                                  const std::string& vocabulary_source,
                                                  const std::string& merges_source) {
  const json tokens = parse_object(vocabulary, vocabulary_source);
  BytePairParts parts;
  parts.tokens = tokens_by_id(tokens, {}, vocabulary_source);
  constexpr const char* kEnd = "<|endoftext|>";
  if (const auto place = tokens.find(kEnd); place != tokens.end())
    parts.added.push_back({.content = kEnd, .id = place->get<Token>()});
  for (std::size_t number = 1; !merges.empty(); ++number) {
    const std::size_t end = std::min(merges.find('\n'), merges.size());
    std::string_view line = merges.substr(0, end);
    merges.remove_prefix(std::min(end + 1, merges.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      fail("{}: line {} is not two tokens with a space between them", merges_source, number);
    parts.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return std::make_shared<const BytePairTokenizer>(
      std::move(parts), fmt::format("{} and {}", vocabulary_source, merges_source));
}

}  // namespace undertext
