// A pattern of records as a model reads it: an automaton over tokens, in which each text has one path.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/record_pattern.h"
#include "text/tokenizer.h"

namespace undertext {

class TokenPattern {
 public:
  struct Edge {
    Token token;
    std::int32_t slot;  // of the token in alphabet()
    std::int32_t to;
    char32_t character;  // 0 where texts were listed
    bool free;  // stands in braces, or, where texts were listed, comes after what all texts begin with
  };
  struct State {
    std::vector<Edge> edges;  // ascending by token
    bool final = false;
  };

  // Where each character is a token of its own, the automaton of the pattern itself, whatever its size. Other
  // tokenizers cut a text as they see the whole of it: the texts are listed and encoded one by one, which
  // needs a pattern of kMostListed texts at most. UserError for a larger one, and for a free character that
  // the tokenizer does not know.
  TokenPattern(const RecordPattern& pattern, const Tokenizer& tokenizer);
  static constexpr double kMostListed = 1e6;

  const std::vector<State>& states() const { return states_; }      // begins at state 0
  const std::vector<Token>& alphabet() const { return alphabet_; }  // all tokens of edges, ascending
  // The edge of a state with this token; null: it leads out of the pattern.
  const Edge* edge(std::int32_t state, Token token) const;
  std::string text(std::span<const Token> tokens) const;  // of a whole text of the pattern

 private:
  void take_characters(const RecordPattern& pattern, const std::map<char32_t, Token>& tokens,
                       const Tokenizer& tokenizer);
  void list_texts(const RecordPattern& pattern, const Tokenizer& tokenizer);
  void number_alphabet();

  std::vector<State> states_;
  std::vector<Token> alphabet_;
  std::unordered_map<std::int32_t, std::string> final_texts_;  // by state, where texts were listed
};

}  // namespace undertext
