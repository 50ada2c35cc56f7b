#include "text/word_piece_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "text/token_list.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr std::string_view kContinues = "##";
constexpr const char* kSpecial[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

bool continues(std::string_view token) {
  return token.starts_with(kContinues) && token.size() > kContinues.size();
}

std::int64_t characters_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// Spaces that no one writes: before a comma, after a bracket, around an apostrophe.
bool joins_left(std::string_view token) {
  static const std::set<std::string_view> marks = {".", ",", "!", "?", ";", ":",
                                                   ")", "]", "}", "%", "'", "\u2019"};
  return marks.contains(token);
}

bool joins_right(std::string_view token) {
  static const std::set<std::string_view> marks = {"(", "[", "{", "$", "'", "\u2019"};
  return marks.contains(token);
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(WordPieceParts parts, const std::string& source)
    : added_(checked_added(std::move(parts.added), parts.tokens, source)),
      words_(parts.rules),
      longest_word_(parts.longest_word) {
  check_tokens(parts.tokens, source);
  tokens_ = std::move(parts.tokens);
  const auto unknown = std::find(tokens_.begin(), tokens_.end(), parts.unknown);
  if (unknown == tokens_.end())
    fail("{}: none of its {} tokens is {}, which unknown words become", source, tokens_.size(),
         quote(parts.unknown));
  unknown_ = static_cast<Token>(unknown - tokens_.begin());
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string_view token = tokens_[id];
    // "##ing" as it stands cannot start a word: # is a word of its own.
    if (continues(token)) {
      rest_.insert(token.substr(kContinues.size()), static_cast<Token>(id));
    } else {
      first_.insert(token, static_cast<Token>(id));
    }
  }
}

std::shared_ptr<const WordPieceTokenizer> WordPieceTokenizer::parse(std::string_view vocabulary,
                                                                    BertRules rules,
                                                                    const std::string& source) {
  WordPieceParts parts{.tokens = token_lines(vocabulary, source), .rules = rules};
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    if (std::find(std::begin(kSpecial), std::end(kSpecial), parts.tokens[id]) != std::end(kSpecial))
      parts.added.push_back({.content = parts.tokens[id], .id = static_cast<Token>(id)});
  }
  return std::make_shared<const WordPieceTokenizer>(std::move(parts), source);
}

SpecialTokens WordPieceTokenizer::special() const {
  const auto id_of = [&](const char* content) -> std::optional<Token> {
    const AddedToken* token = added_.find(content);
    return token ? std::optional(token->id) : std::nullopt;
  };
  return {.start = id_of("[CLS]"),
          .end = id_of("[SEP]"),
          .unknown = unknown_,
          .mask = id_of("[MASK]"),
          .padding = id_of("[PAD]")};
}

void WordPieceTokenizer::append_word(const std::string& word, Sentence& tokens) const {
  const std::size_t before = tokens.size();
  bool known = characters_of(word) <= longest_word_;
  std::string_view left = word;
  while (known && !left.empty()) {
    const ByteTrie::Match match = (left.size() == word.size() ? first_ : rest_).longest(left);
    known = match.length > 0;
    if (known) tokens.push_back(match.token);
    left.remove_prefix(match.length);
  }
  if (known) return;
  tokens.resize(before);
  tokens.push_back(unknown_);
}

Sentence WordPieceTokenizer::encode(std::string_view text) const {
  WordCaches::Lease cache(caches_);
  Sentence tokens;
  tokens.reserve(text.size() / 4 + 1);
  const auto plain = [&](std::string_view part) {
    for (std::size_t from = 0;;) {
      const std::string_view chunk = words_.next_chunk(part, from);
      if (chunk.empty()) break;
      if (cache->append(chunk, tokens)) continue;
      const std::size_t before = tokens.size();
      for (const std::string& word : words_.words(chunk)) append_word(word, tokens);
      cache->keep(chunk, std::span(tokens).subspan(before));
    }
  };
  added_.split(text, plain, [&](Token id) { tokens.push_back(id); });
  return tokens;
}

std::string WordPieceTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  bool joined = true;  // nothing to keep apart from
  for (const Token id : tokens) {
    const std::string& token = tokens_.at(static_cast<std::size_t>(id));
    if (continues(token)) {
      text += std::string_view(token).substr(kContinues.size());
      joined = false;
      continue;
    }
    if (!joined && !joins_left(token)) text += ' ';
    text += token;
    joined = joins_right(token);
  }
  return text;
}

void WordPieceTokenizer::save(const std::filesystem::path& folder) const {
  using nlohmann::json;
  json vocabulary = json::object();
  for (Token id = 0; id < size(); ++id) vocabulary[token(id)] = id;
  const BertRules& rules = words_.rules();
  const json file = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", json_of(added_)},
                     {"normalizer",
                      {{"type", "BertNormalizer"},
                       {"clean_text", rules.clean_text},
                       {"handle_chinese_chars", rules.handle_chinese_chars},
                       {"strip_accents", rules.strip_accents},
                       {"lowercase", rules.lowercase}}},
                     {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                     {"post_processor", nullptr},
                     {"decoder", {{"type", "WordPiece"}, {"prefix", kContinues}, {"cleanup", true}}},
                     {"model",
                      {{"type", "WordPiece"},
                       {"unk_token", token(unknown_)},
                       {"continuing_subword_prefix", kContinues},
                       {"max_input_chars_per_word", longest_word_},
                       {"vocab", std::move(vocabulary)}}}};
  write_file(folder / "tokenizer.json", file.dump());
}

std::shared_ptr<const WordPieceTokenizer> WordPieceTokenizer::restricted(
    const std::vector<bool>& keep) const {
  std::set<char32_t> seen;  // the characters of the pieces that are kept
  const auto pure = [](std::string_view token) {
    return continues(token) ? token.substr(kContinues.size()) : token;
  };
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string_view text = pure(tokens_[id]);
    for (std::size_t i = 0; keep[id] && i < text.size();) {
      const CodePoint code_point = *decode_utf8(text, i);
      seen.insert(code_point.value);
      i += code_point.bytes;
    }
  }
  WordPieceParts parts{.rules = words_.rules(), .unknown = token(unknown_), .longest_word = longest_word_};
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string_view text = pure(tokens_[id]);
    const CodePoint first = *decode_utf8(text, 0);
    const bool character = first.bytes == text.size() && seen.contains(first.value);
    const AddedToken* added = added_.find(tokens_[id]);
    if (!keep[id] && !character && !added && static_cast<Token>(id) != unknown_) continue;
    if (added) {
      parts.added.push_back(*added);
      parts.added.back().id = static_cast<Token>(parts.tokens.size());
    }
    parts.tokens.push_back(tokens_[id]);
  }
  return std::make_shared<const WordPieceTokenizer>(std::move(parts), "the restricted tokenizer");
}

}  // namespace undertext
