#include "text/byte_trie.h"

namespace undertext {

void ByteTrie::insert(std::string_view string, Token token) {
  std::uint32_t node = 0;
  for (const char byte : string) {
    std::uint32_t next = edges_.find(edge(node, byte));
    if (next == FlatTable::kNothing) {
      next = static_cast<std::uint32_t>(tokens_.size());
      edges_.insert(edge(node, byte), next);
      tokens_.push_back(kInner);
    }
    node = next;
  }
  tokens_[node] = token;
}

}  // namespace undertext
