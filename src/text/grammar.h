// A grammar of weighted alternatives, written as text, that makes up sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.h"

namespace undertext {

// Rules look like this:
//
//   # a comment
//   greeting:
//     3* hi {name} | hello [{name}]
//     2: good {part of day} | _
//
// A line without indent names a rule; the indented lines below hold its alternatives, parted by |. "3*" gives
// one alternative the weight 3 (else 1), "2:" doubles the weight of every alternative on its line. {name}
// stands for a rule, [...] is written in one case of three, _ is nothing. Only our own code writes grammars:
// a fault in one is a bug and aborts.
class Grammar {
 public:
  explicit Grammar(const std::vector<std::string_view>& sources);

  // One sentence for the rule: white space collapsed, "a" before a vowel made "an".
  std::string expand(std::string_view rule, Random& random) const;

  // Every name of a rule, in the order of definition.
  const std::vector<std::string>& rules() const { return names_; }
  // Rules that no expansion of the roots can reach.
  std::vector<std::string> unreachable_from(const std::vector<std::string>& roots) const;

 private:
  struct Piece {
    enum class Kind { kText, kRule, kOptional } kind;
    std::string text;              // kText: the words; kRule: the rule's name until it is resolved
    std::size_t rule = 0;          // kRule: index of the rule
    std::vector<Piece> optionals;  // kOptional: what may be written
  };
  struct Alternative {
    std::uint64_t weight;
    std::vector<Piece> pieces;
  };
  struct Rule {
    std::vector<Alternative> alternatives;
    std::uint64_t total_weight = 0;
  };

  void parse(std::string_view source);
  void parse_alternatives(std::string_view line, Rule& rule);
  static std::vector<Piece> parse_pieces(std::string_view text);
  void resolve(std::vector<Piece>& pieces);
  void expand_rule(std::size_t rule, Random& random, int depth, std::string& out) const;
  void expand_pieces(const std::vector<Piece>& pieces, Random& random, int depth, std::string& out) const;
  std::size_t index_of(std::string_view rule) const;

  std::vector<std::string> names_;
  std::vector<Rule> rules_;  // beside names_
  std::unordered_map<std::string, std::size_t> indices_;
};

}  // namespace undertext
