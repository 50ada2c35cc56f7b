// The tree of prefixes that a search visits. Node 0 is <S>; a node is the edge (prefix before it -> its
// word), the prefix that ends with that word, and the candidate sentence that stops there, all in one.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "base/matrix.h"
#include "models/prefix_reader.h"

namespace undertext {

using NodeId = std::int32_t;

class SearchTree {
 public:
  SearchTree(std::unique_ptr<PrefixReader> reader, Token start);

  std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
  NodeId parent(NodeId node) const { return nodes_[node].parent; }
  Token word(NodeId node) const { return nodes_[node].word; }
  std::int32_t depth(NodeId node) const { return nodes_[node].depth; }  // number of words
  NodeId first(NodeId node) const { return nodes_[node].first; }        // its ancestor of depth 1
  NodeId find(NodeId parent, Token word) const;                         // -1 when there is none
  NodeId child(NodeId parent, Token word);                              // found or made
  NodeId insert(std::span<const Token> sentence);
  Sentence sentence(NodeId node) const;

  // A reader of the same model for prefixes that the tree need not keep.
  std::unique_ptr<PrefixReader> fresh_reader() const { return reader_->fresh(); }

  // Reads the prefixes of these nodes (and of their ancestors) that were not read yet.
  void open(std::span<const NodeId> nodes);
  // Forgets what was read; the nodes stay.
  void forget();
  // h~ = [h; 1] of opened nodes: (nodes, D).
  Matrix<float> hidden(std::span<const NodeId> nodes) const;

 private:
  struct Node {
    NodeId parent, first;
    Token word;
    std::int32_t depth;
    StateId state;
  };
  std::unique_ptr<PrefixReader> reader_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, NodeId> children_;
};

// The nodes and all their ancestors but the root, ordered by depth then id.
std::vector<NodeId> with_ancestors(const SearchTree& tree, std::span<const NodeId> nodes);

}  // namespace undertext
