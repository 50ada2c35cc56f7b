#include "text/added_tokens.h"

#include <utility>

namespace undertext {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    trie_.insert(tokens_[i].content, static_cast<Token>(i));
    starts_[static_cast<unsigned char>(tokens_[i].content.front())] = true;
  }
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const ByteTrie::Match match = trie_.longest(content);
  const bool found = match.length == content.size() && match.length > 0;
  return found ? &tokens_[static_cast<std::size_t>(match.token)] : nullptr;
}

std::size_t AddedTokens::left_of(std::string_view text, std::size_t begin, std::size_t end) const {
  const UnicodeTraits& traits = UnicodeTraits::get();
  while (end > begin) {
    std::size_t start = end - 1;
    while (start > begin && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    const UnicodeTraits::Character last = traits.at(text, start);
    if (start + last.bytes != end || !(last.traits & UnicodeTraits::kWhiteSpace)) break;
    end = start;
  }
  return end;
}

std::size_t AddedTokens::right_of(std::string_view text, std::size_t begin) const {
  const UnicodeTraits& traits = UnicodeTraits::get();
  while (begin < text.size()) {
    const UnicodeTraits::Character next = traits.at(text, begin);
    if (!(next.traits & UnicodeTraits::kWhiteSpace)) break;
    begin += next.bytes;
  }
  return begin;
}

}  // namespace undertext
