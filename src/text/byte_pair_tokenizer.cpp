#include "text/byte_pair_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "text/byte_alphabet.h"
#include "text/gpt2_words.h"
#include "text/token_list.h"

namespace undertext {
namespace {

// The place of a merge whose pair has been merged before.
std::optional<std::size_t> repeated_pair(std::span<const PairMerge> merges) {
  FlatTable seen;
  for (std::size_t i = 0; i < merges.size(); ++i)
    if (!seen.insert(merges[i].pair(), 0)) return i;
  return std::nullopt;
}

}  // namespace

BytePairTokenizer::BytePairTokenizer(BytePairParts parts, const std::string& source)
    : added_(checked_added(std::move(parts.added), parts.tokens, source)), restricted_(parts.restricted) {
  TokenIndex pieces = check_tokens(parts.tokens, source);
  bytes_.reserve(parts.tokens.size());
  byte_tokens_.fill(-1);
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    const std::string& written = parts.tokens[id];
    std::optional<std::string> bytes = bytes_of_written(written);
    if (added_.find(written)) {
      bytes_.push_back(written);
      // Such a token would be two things at once, and decode could not tell which.
      if (bytes && bytes->size() == 1 && *bytes != written)
        fail("{}: the added token {} also stands for the byte 0x{:02x}", source, quote(written),
             static_cast<unsigned char>(bytes->front()));
    } else if (bytes) {
      bytes_.push_back(*bytes);
    } else {
      fail(
          "{}: the token {} is not written in the characters that stand for bytes, expected a byte-level "
          "tokenizer",
          source, quote(written));
    }
    if (bytes && bytes->size() == 1)
      byte_tokens_[static_cast<unsigned char>(bytes->front())] = static_cast<Token>(id);
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (byte_tokens_[byte] < 0)
      fail("{}: no token for the byte 0x{:02x}, expected {} and all 255 others", source, byte,
           quote(byte_alphabet()[byte]));
  }
  written_ = std::move(parts.tokens);
  add_merges(parts, std::move(pieces), source);
  expand_dropped();
}

void BytePairTokenizer::add_merges(const BytePairParts& parts, TokenIndex pieces, const std::string& source) {
  std::vector<PairMerge> merges;
  merges.reserve(parts.merges.size());
  std::string joined;
  for (const auto& [left, right] : parts.merges) {
    const std::size_t number = merges.size() + 1;
    if (left.empty() || right.empty())
      fail("{}: merge {} joins {} and {}, expected two tokens", source, number, quote(left), quote(right));
    joined.assign(left).append(right);
    Token result = pieces.find(written_, joined);
    if (result == TokenIndex::kNone) {
      if (!restricted_) fail("{}: merge {} makes {}, which is no token", source, number, quote(joined));
      check_token(joined, source, "the result of a merge");
      if (!bytes_of_written(joined))
        fail("{}: merge {} makes {}, which is not written in the characters that stand for bytes", source,
             number, quote(joined));
      written_.push_back(joined);
      result = pieces.insert(written_, static_cast<Token>(written_.size() - 1));
    } else if (added_.find(joined) && bytes_of_written(joined) != joined) {
      fail("{}: merge {} makes the added token {}", source, number, quote(joined));
    }
    merges.push_back({TokenIndex::kNone, TokenIndex::kNone, result});
  }
  // Only now is every piece known: a merge may join what a later one makes.
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = parts.merges[i];
    merges[i].left = pieces.find(written_, left);
    merges[i].right = pieces.find(written_, right);
    if (merges[i].left == TokenIndex::kNone || merges[i].right == TokenIndex::kNone)
      fail("{}: merge {} joins {}, which is no token", source, i + 1,
           quote(merges[i].left == TokenIndex::kNone ? left : right));
  }
  if (const auto twice = repeated_pair(merges))
    fail("{}: merge {} of {} and {} is there twice", source, *twice + 1, quote(parts.merges[*twice].first),
         quote(parts.merges[*twice].second));
  merger_ = std::make_unique<const BytePairMerger>(std::move(merges));
}

void BytePairTokenizer::expand_dropped() {
  const std::size_t tokens = bytes_.size();
  dropped_.resize(written_.size() - tokens);
  std::vector<const PairMerge*> origin(dropped_.size(), nullptr);
  for (const PairMerge& merge : merger_->merges()) {
    const auto result = static_cast<std::size_t>(merge.result);
    if (result >= tokens && !origin[result - tokens]) origin[result - tokens] = &merge;
  }
  // Shorter ones first: what a piece is merged from is shorter than it.
  std::vector<std::size_t> order(dropped_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return written_[tokens + a].size() < written_[tokens + b].size();
  });
  for (const std::size_t i : order) {
    for (const Token part : {origin[i]->left, origin[i]->right}) {
      const auto piece = static_cast<std::size_t>(part);
      if (piece < tokens) {
        dropped_[i].push_back(part);
      } else {
        dropped_[i].insert(dropped_[i].end(), dropped_[piece - tokens].begin(),
                           dropped_[piece - tokens].end());
      }
    }
  }
}

SpecialTokens BytePairTokenizer::special() const {
  const auto first_of = [&](std::initializer_list<const char*> contents) -> std::optional<Token> {
    for (const char* content : contents)
      if (const AddedToken* token = added_.find(content)) return token->id;
    return std::nullopt;
  };
  return {.start = first_of({"<s>", "<|endoftext|>"}),
          .end = first_of({"</s>", "<|endoftext|>"}),
          .unknown = first_of({"<unk>"}),
          .mask = first_of({"<mask>"}),
          .padding = first_of({"<pad>", "[PAD]", "<|pad|>"})};
}

void BytePairTokenizer::append_word(std::string_view word, Sentence& tokens) const {
  std::vector<Token> pieces(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) pieces[i] = byte_tokens_[static_cast<unsigned char>(word[i])];
  merger_->merge(pieces);
  for (const Token piece : pieces) {
    if (piece < size()) {
      tokens.push_back(piece);
    } else {
      const Sentence& parts = dropped_[static_cast<std::size_t>(piece - size())];
      tokens.insert(tokens.end(), parts.begin(), parts.end());
    }
  }
}

Sentence BytePairTokenizer::encode(std::string_view text) const {
  const UnicodeTraits& traits = UnicodeTraits::get();
  WordCaches::Lease cache(caches_);
  Sentence tokens;
  tokens.reserve(text.size() / 4 + 1);
  const auto plain = [&](std::string_view part) {
    for (std::size_t begin = 0; begin < part.size();) {
      const std::size_t end = gpt2_word_end(part, begin, traits);
      const std::string_view word = part.substr(begin, end - begin);
      begin = end;
      if (cache->append(word, tokens)) continue;
      const std::size_t before = tokens.size();
      append_word(word, tokens);
      cache->keep(word, std::span(tokens).subspan(before));
    }
  };
  added_.split(text, plain, [&](Token id) { tokens.push_back(id); });
  return tokens;
}

std::string BytePairTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token id : tokens) text += bytes_.at(static_cast<std::size_t>(id));
  return replace_invalid_utf8(text);
}

void BytePairTokenizer::save(const std::filesystem::path& folder) const {
  using nlohmann::json;
  json vocabulary = json::object(), merges = json::array();
  for (Token id = 0; id < size(); ++id) vocabulary[token(id)] = id;
  for (const PairMerge& merge : merger_->merges())
    merges.push_back(written_[static_cast<std::size_t>(merge.left)] + " " +
                     written_[static_cast<std::size_t>(merge.right)]);
  json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", json_of(added_)},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}}},
      {"post_processor", nullptr},
      {"decoder",
       {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", false},
        {"byte_fallback", false},
        {"vocab", std::move(vocabulary)},
        {"merges", std::move(merges)}}}};
  if (restricted_) file["restricted"] = true;  // other readers stumble over its merges rather than misread it
  write_file(folder / "tokenizer.json", file.dump());
}

bool BytePairTokenizer::is_byte_or_added(Token id) const {
  return std::find(byte_tokens_.begin(), byte_tokens_.end(), id) != byte_tokens_.end() ||
         added_.find(written_.at(static_cast<std::size_t>(id)));
}

std::shared_ptr<const BytePairTokenizer> BytePairTokenizer::restricted(const std::vector<bool>& keep) const {
  BytePairParts parts;
  parts.restricted = true;
  for (Token id = 0; id < size(); ++id) {
    if (!keep[static_cast<std::size_t>(id)] && !is_byte_or_added(id)) continue;
    if (const AddedToken* added = added_.find(token(id))) {
      parts.added.push_back(*added);
      parts.added.back().id = static_cast<Token>(parts.tokens.size());
    }
    parts.tokens.push_back(token(id));
  }
  for (const PairMerge& merge : merger_->merges())
    parts.merges.emplace_back(written_[static_cast<std::size_t>(merge.left)],
                              written_[static_cast<std::size_t>(merge.right)]);
  return std::make_shared<const BytePairTokenizer>(std::move(parts), "the restricted tokenizer");
}

}  // namespace undertext
