#include "attacks/records/token_pattern.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "text/utf8.h"

namespace undertext {
namespace {

std::string in_utf8(char32_t character) {
  std::string text;
  append_utf8(text, character);
  return text;
}

// The token of each character of the pattern; nothing where the tokenizer has not one token for each, or cuts
// whole texts in another way.
std::optional<std::map<char32_t, Token>> tokens_of_characters(const RecordPattern& pattern,
                                                              const Tokenizer& tokenizer) {
  std::map<char32_t, Token> tokens;
  for (const RecordPattern::State& state : pattern.states())
    for (const RecordPattern::Edge& edge : state.edges) {
      if (tokens.contains(edge.character)) continue;
      const Sentence encoded = tokenizer.encode(in_utf8(edge.character));
      if (encoded.size() != 1) return std::nullopt;
      tokens[edge.character] = encoded[0];
    }
  // A tokenizer that merges characters shows it on some text of the pattern.
  constexpr int kTried = 64;
  Random random(Seed(1).derive("texts that are tried"));
  for (int i = 0; i < kTried; ++i) {
    const std::string text = pattern.sample(random);
    Sentence expected;
    for (std::size_t at = 0; at < text.size();) {
      const auto character = decode_utf8(text, at);
      expected.push_back(tokens.at(character->value));
      at += character->bytes;
    }
    if (tokenizer.encode(text) != expected) return std::nullopt;
  }
  return tokens;
}

}  // namespace

TokenPattern::TokenPattern(const RecordPattern& pattern, const Tokenizer& tokenizer) {
  if (const auto tokens = tokens_of_characters(pattern, tokenizer))
    take_characters(pattern, *tokens, tokenizer);
  else
    list_texts(pattern, tokenizer);
  number_alphabet();
}

void TokenPattern::take_characters(const RecordPattern& pattern, const std::map<char32_t, Token>& tokens,
                                   const Tokenizer& tokenizer) {
  const std::optional<Token> unknown = tokenizer.special().unknown;
  for (const RecordPattern::State& from : pattern.states()) {
    State& state = states_.emplace_back();
    state.final = from.final;
    for (const RecordPattern::Edge& edge : from.edges) {
      const Token token = tokens.at(edge.character);
      if (edge.free && token == unknown)
        fail("pattern {}: the model's tokenizer does not know the free character {}",
             quote(pattern.written()), quote(in_utf8(edge.character)));
      state.edges.push_back({token, 0, edge.to, edge.character, edge.free});
    }
    std::ranges::sort(state.edges, {}, &Edge::token);
    const auto twice = std::ranges::adjacent_find(state.edges, {}, &Edge::token);
    if (twice != state.edges.end())
      fail("pattern {}: the model's tokenizer does not tell {} from other characters in its place",
           quote(pattern.written()), quote(in_utf8(twice->character)));
  }
}

// A tree of the encoded texts. Of texts that encode alike, which no model can tell apart, the first stays.
void TokenPattern::list_texts(const RecordPattern& pattern, const Tokenizer& tokenizer) {
  if (pattern.size() > kMostListed)
    fail(
        "pattern {}: has {:.3g} texts, and the model's tokens are longer than characters; expected a model "
        "that reads characters, or a pattern of {:.0f} texts at most",
        quote(pattern.written()), pattern.size(), kMostListed);
  states_.emplace_back();
  for (const std::string& text : pattern.all()) {
    std::int32_t at = 0;
    for (const Token token : tokenizer.encode(text)) {
      auto& edges = states_[static_cast<std::size_t>(at)].edges;
      const auto place = std::ranges::lower_bound(edges, token, {}, &Edge::token);
      if (place != edges.end() && place->token == token) {
        at = place->to;
        continue;
      }
      const auto fresh = static_cast<std::int32_t>(states_.size());
      edges.insert(place, {token, 0, fresh, 0, true});
      states_.emplace_back();
      at = fresh;
    }
    states_[static_cast<std::size_t>(at)].final = true;
    final_texts_.try_emplace(at, text);
  }
  if (states_.front().final)
    fail("pattern {}: the model's tokenizer makes nothing of {}", quote(pattern.written()),
         quote(final_texts_.at(0)));
  for (State* state = &states_.front(); !state->final && state->edges.size() == 1;
       state = &states_[static_cast<std::size_t>(state->edges[0].to)])
    state->edges[0].free = false;
}

void TokenPattern::number_alphabet() {
  std::set<Token> all;
  for (const State& state : states_)
    for (const Edge& edge : state.edges) all.insert(edge.token);
  alphabet_.assign(all.begin(), all.end());
  for (State& state : states_)
    for (Edge& edge : state.edges)
      edge.slot =
          static_cast<std::int32_t>(std::ranges::lower_bound(alphabet_, edge.token) - alphabet_.begin());
}

const TokenPattern::Edge* TokenPattern::edge(std::int32_t state, Token token) const {
  const auto& edges = states_[static_cast<std::size_t>(state)].edges;
  const auto edge = std::ranges::lower_bound(edges, token, {}, &Edge::token);
  return edge != edges.end() && edge->token == token ? &*edge : nullptr;
}

std::string TokenPattern::text(std::span<const Token> tokens) const {
  std::int32_t state = 0;
  std::string text;
  for (const Token token : tokens) {
    const Edge* taken = edge(state, token);
    UNDERTEXT_CHECK(taken);
    if (final_texts_.empty()) append_utf8(text, taken->character);
    state = taken->to;
  }
  UNDERTEXT_CHECK(states_[static_cast<std::size_t>(state)].final);
  return final_texts_.empty() ? text : final_texts_.at(state);
}

}  // namespace undertext
