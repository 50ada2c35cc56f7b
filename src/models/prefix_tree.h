// The distinct contexts of a batch of sentences. Sentences that begin alike (all begin with <S>) share the
// states of the common prefix, so each distinct prefix is read, and its softmax computed, once; gradients
// are weighted by how often a word follows. This is exact, not an approximation: a quarter of the work of
// 4-word sentences falls away with <S> alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/targets.h"

namespace undertext {

struct PrefixTree : Targets {
  // Nodes are rows, breadth first: depth t (t words after <S>) holds rows [depth_begin[t], depth_begin[t+1]).
  std::vector<std::int64_t> depth_begin;
  std::vector<std::int32_t> parent;        // row of the prefix without its last word; -1 for <S>
  std::vector<std::int32_t> parent_inner;  // the same as an inner index
  std::vector<std::int32_t> slot;          // which distinct token the prefix ends in

  // Nodes that are read on from, in the order of rows: at depth t [inner_begin[t], inner_begin[t+1]).
  std::vector<std::int64_t> inner_begin;
  std::vector<std::int32_t> inner_row;

  std::vector<Token> slot_token;  // distinct tokens read

  // target index of each predicted word, sentence after sentence.
  std::vector<std::int64_t> word_target;

  std::int64_t inner() const { return static_cast<std::int64_t>(inner_row.size()); }
  std::int64_t slots() const { return static_cast<std::int64_t>(slot_token.size()); }
  std::int64_t depths() const { return static_cast<std::int64_t>(depth_begin.size()) - 1; }

  PrefixTree(std::span<const Sentence> sentences, Token start);
};

}  // namespace undertext
