#include "attacks/search_tree.h"

#include <algorithm>

#include "base/error.h"

namespace undertext {
namespace {

std::uint64_t key(NodeId parent, Token word) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(parent)) << 32) |
         static_cast<std::uint32_t>(word);
}

}  // namespace

SearchTree::SearchTree(std::unique_ptr<PrefixReader> reader, Token start) : reader_(std::move(reader)) {
  nodes_.push_back({-1, -1, start, 0, -1});
  const NodeId root = 0;
  open({&root, 1});
}

NodeId SearchTree::find(NodeId parent, Token word) const {
  const auto found = children_.find(key(parent, word));
  return found == children_.end() ? -1 : found->second;
}

NodeId SearchTree::child(NodeId parent, Token word) {
  const NodeId next = static_cast<NodeId>(nodes_.size());
  const auto [at, fresh] = children_.try_emplace(key(parent, word), next);
  if (fresh)
    nodes_.push_back({parent, parent == 0 ? next : nodes_[parent].first, word, nodes_[parent].depth + 1, -1});
  return at->second;
}

NodeId SearchTree::insert(std::span<const Token> sentence) {
  NodeId node = 0;
  for (Token word : sentence) node = child(node, word);
  return node;
}

Sentence SearchTree::sentence(NodeId node) const {
  Sentence words;
  for (; node > 0; node = nodes_[node].parent) words.push_back(nodes_[node].word);
  std::reverse(words.begin(), words.end());
  return words;
}

void SearchTree::open(std::span<const NodeId> nodes) {
  std::vector<NodeId> closed;
  for (NodeId node : nodes)
    for (; node >= 0 && nodes_[node].state < 0; node = nodes_[node].parent) closed.push_back(node);
  std::sort(closed.begin(), closed.end(), [&](NodeId a, NodeId b) {
    return std::pair(nodes_[a].depth, a) < std::pair(nodes_[b].depth, b);
  });
  closed.erase(std::unique(closed.begin(), closed.end()), closed.end());
  // One call per depth: a prefix needs its parent's state.
  for (std::size_t from = 0; from < closed.size();) {
    std::size_t to = from;
    std::vector<StateId> states;
    std::vector<Token> words;
    for (; to < closed.size() && nodes_[closed[to]].depth == nodes_[closed[from]].depth; ++to) {
      const Node& node = nodes_[closed[to]];
      states.push_back(node.parent < 0 ? -1 : nodes_[node.parent].state);
      words.push_back(node.word);
    }
    StateId state = reader_->extend(states, words);
    for (; from < to; ++from) nodes_[closed[from]].state = state++;
  }
}

void SearchTree::forget() {
  reader_->clear();
  for (Node& node : nodes_) node.state = -1;
}

Matrix<float> SearchTree::hidden(std::span<const NodeId> nodes) const {
  const std::int64_t width = reader_->width();
  Matrix<float> h(static_cast<std::int64_t>(nodes.size()), width + 1, 1.0f);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    UNDERTEXT_CHECK(nodes_[nodes[i]].state >= 0);
    std::copy_n(reader_->hidden(nodes_[nodes[i]].state), width, h.row(static_cast<std::int64_t>(i)));
  }
  return h;
}

std::vector<NodeId> with_ancestors(const SearchTree& tree, std::span<const NodeId> nodes) {
  std::vector<NodeId> all;
  for (NodeId node : nodes)
    for (; node > 0; node = tree.parent(node)) all.push_back(node);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::stable_sort(all.begin(), all.end(), [&](NodeId a, NodeId b) { return tree.depth(a) < tree.depth(b); });
  return all;
}

}  // namespace undertext
