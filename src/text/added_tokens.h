// Tokens that stand for a string of their own wherever it occurs, such as <|endoftext|>.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"
#include "text/unicode_traits.h"

namespace undertext {

struct AddedToken {
  std::string content;
  Token id = 0;
  bool special = true;
  bool strip_left = false, strip_right = false;  // takes the white space beside it as well
};

// As Hugging Face's tokenizers do, all of them are found in a text before anything else is, special or not:
// the leftmost first, and of those the longest. So a text that spells <|endoftext|> holds that token.
class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);  // contents neither empty nor twice

  const std::vector<AddedToken>& list() const { return tokens_; }
  const AddedToken* find(std::string_view content) const;  // null when there is none

  // Calls plain(text) and token(id) for the parts of the text, in order.
  template <typename Plain, typename Found>
  void split(std::string_view text, const Plain& plain, const Found& token) const {
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size();) {
      if (!starts_[static_cast<unsigned char>(text[i])]) {
        ++i;
        continue;
      }
      const ByteTrie::Match match = trie_.longest(text.substr(i));
      if (match.length == 0) {
        ++i;
        continue;
      }
      const AddedToken& found = tokens_[static_cast<std::size_t>(match.token)];
      const std::size_t begin = found.strip_left ? left_of(text, done, i) : i;
      if (begin > done) plain(text.substr(done, begin - done));
      token(found.id);
      i += match.length;
      if (found.strip_right) i = right_of(text, i);
      done = i;
    }
    if (done < text.size()) plain(text.substr(done));
  }

 private:
  // The white space that ends at `end` starts here, that starts at `begin` ends here.
  std::size_t left_of(std::string_view text, std::size_t begin, std::size_t end) const;
  std::size_t right_of(std::string_view text, std::size_t begin) const;

  std::vector<AddedToken> tokens_;
  ByteTrie trie_;  // contents to indices of tokens_
  std::array<bool, 256> starts_{};
};

}  // namespace undertext
