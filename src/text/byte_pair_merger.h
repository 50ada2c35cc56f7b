// The merges of byte pair encoding.
#pragma once

#include <span>
#include <vector>

#include "text/flat_table.h"
#include "text/tokenizer.h"

namespace undertext {

struct PairMerge {
  Token left, right, result;

  std::uint64_t pair() const { return pair_of(left, right); }
  static std::uint64_t pair_of(Token left, Token right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }
};

class BytePairMerger {
 public:
  // Earlier merges come first. UNDERTEXT_CHECKs that no pair is there twice.
  explicit BytePairMerger(std::vector<PairMerge> merges);

  // Joins neighbours as long as any pair has a merge: always the earliest merge, and of its places the
  // leftmost.
  void merge(std::vector<Token>& pieces) const;

  std::span<const PairMerge> merges() const { return merges_; }

 private:
  // The rank of the merge of two neighbours; FlatTable::kNothing where there is none.
  std::uint32_t rank(Token left, Token right) const { return ranks_.find(PairMerge::pair_of(left, right)); }
  void merge_short(std::vector<Token>& pieces) const;
  void merge_long(std::vector<Token>& pieces) const;

  std::vector<PairMerge> merges_;
  FlatTable ranks_;
};

}  // namespace undertext
