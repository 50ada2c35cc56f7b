#include "models/prefix_tree.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace undertext {

PrefixTree::PrefixTree(std::span<const Sentence> sentences, Token start) {
  struct Reader {      // a sentence on its way down the tree
    std::int32_t row;  // its prefix so far
    Token next;        // the word that follows
    std::size_t sentence;
  };
  std::vector<std::size_t> word_begin(sentences.size() + 1, 0);
  std::vector<Reader> readers;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    word_begin[s + 1] = word_begin[s] + sentences[s].size();
    if (!sentences[s].empty()) readers.push_back({0, sentences[s][0], s});
  }
  word_target.resize(word_begin.back());
  depth_begin.push_back(0);
  inner_begin.push_back(0);
  if (readers.empty()) return;

  std::unordered_map<Token, std::int32_t> slots_of;
  const auto add_node = [&](std::int32_t from_row, std::int32_t from_inner, Token token) {
    parent.push_back(from_row);
    parent_inner.push_back(from_inner);
    const auto [found, fresh] = slots_of.try_emplace(token, static_cast<std::int32_t>(slot_token.size()));
    if (fresh) slot_token.push_back(token);
    slot.push_back(found->second);
  };
  add_node(-1, -1, start);
  depth_begin.push_back(1);

  for (std::size_t depth = 0; !readers.empty(); ++depth) {
    std::sort(readers.begin(), readers.end(), [](const Reader& a, const Reader& b) {
      return std::tie(a.row, a.next, a.sentence) < std::tie(b.row, b.next, b.sentence);
    });
    std::vector<Reader> deeper;
    for (std::size_t i = 0; i < readers.size();) {
      const std::int32_t row = readers[i].row;
      float row_total = 0;
      bool has_children = false;
      while (i < readers.size() && readers[i].row == row) {
        const Token word = readers[i].next;
        bool has_child = false;
        float count = 0;
        for (; i < readers.size() && readers[i].row == row && readers[i].next == word; ++i) {
          const std::size_t s = readers[i].sentence;
          word_target[word_begin[s] + depth] = static_cast<std::int64_t>(target.size());
          count += 1;
          if (depth + 1 == sentences[s].size()) continue;
          if (!has_children) inner_row.push_back(row);
          has_children = true;
          if (!has_child) add_node(row, static_cast<std::int32_t>(inner_row.size()) - 1, word);
          has_child = true;
          deeper.push_back({static_cast<std::int32_t>(parent.size()) - 1, sentences[s][depth + 1], s});
        }
        target.push_back(word);
        target_count.push_back(count);
        row_total += count;
      }
      target_begin.push_back(static_cast<std::int64_t>(target.size()));
      row_count.push_back(row_total);
    }
    inner_begin.push_back(inner());
    if (!deeper.empty()) depth_begin.push_back(static_cast<std::int64_t>(parent.size()));
    readers.swap(deeper);
  }
}

}  // namespace undertext
