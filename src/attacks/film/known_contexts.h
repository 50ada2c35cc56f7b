// Which tokens follow which prefixes, where all prefixes of a batch are known.
//
// The gradient of the last block's feed-forward output is the sum of a_c (x) d_c over the prefixes c
// (tail.h), with fewer prefixes than a_c has numbers. So each d_c comes out by linear algebra, and is in turn
// a sum of J_c (W' p_c - W_k) over the tokens k that follow c, as often as they do.
#pragma once

#include <map>
#include <vector>

#include "attacks/film/filter.h"
#include "attacks/film/tail.h"

namespace undertext {

using TokenCounts = std::map<Token, std::int64_t>;

struct FollowingTokens {
  double weight = 0;                // of one step in the gradient; 0: it is not to be told
  std::vector<TokenCounts> counts;  // of each context; empty: what follows moved too little to be seen
  // Of each context the tokens that were not known, in the order in which they were found: clearest first.
  std::vector<std::vector<Token>> found;
};

// gradient: of the feed-forward output, with its bias (F + 1, D). known: of each context, tokens that follow
// it for sure, at least so often. weight: of one step; 0: unknown.
FollowingTokens tokens_after(const Tail& tail, const TailContexts& contexts, const Matrix<double>& gradient,
                             const std::vector<TokenCounts>& known, double weight);

}  // namespace undertext
