// Strings with a token each, asked for the longest that a text begins with.
#pragma once

#include <string_view>
#include <vector>

#include "text/flat_table.h"
#include "text/tokenizer.h"

namespace undertext {

class ByteTrie {
 public:
  void insert(std::string_view string, Token token);  // the string is not empty and not there yet

  struct Match {
    std::size_t length = 0;  // 0: no string fits
    Token token = 0;
  };
  Match longest(std::string_view text) const {
    Match match;
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = edges_.find(edge(node, text[i]));
      if (node == FlatTable::kNothing) break;
      if (tokens_[node] != kInner) match = {i + 1, tokens_[node]};
    }
    return match;
  }

 private:
  static constexpr Token kInner = -1;  // a node where no string ends

  static std::uint64_t edge(std::uint32_t node, char byte) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(byte);
  }

  FlatTable edges_;  // (node, byte) to node; node 0 is the root
  std::vector<Token> tokens_ = {kInner};
};

}  // namespace undertext
