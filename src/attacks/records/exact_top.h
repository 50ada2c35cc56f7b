// The likeliest texts of a pattern, under one model or many together, with proof: of 10^9 texts the first
// 1000 in a fraction of a second. A text is never likelier than what it begins with, so whatever begins with
// a prefix that is less likely than K texts that were found already is none of the K likeliest.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "attacks/records/token_pattern.h"
#include "attacks/records/token_scores.h"

namespace undertext {

struct ExactTopOptions {
  std::int64_t top = 1000;    // K
  std::int64_t batch = 1000;  // prefixes read at a time
  // Prefixes read in all before the search gives up on its proof, and states held at most. A model that knows
  // nothing of the records spreads its probability over all texts, and a proof would have to read nearly all.
  std::int64_t most_read = 100'000;
};

struct TopRecord {
  Sentence tokens;
  double log_probability = 0;  // of all its tokens, in nats
};

struct ExactTop {
  std::vector<TopRecord> records;  // best first, K of them or all that there are
  // Every text of the pattern with a greater log-probability is among the records.
  double bound = -std::numeric_limits<double>::infinity();
  std::int64_t proven = 0;  // so many of the records, from the first, are the likeliest of all
  std::int64_t read = 0;    // prefixes
};

// scores: of that pattern; its states are forgotten on the way.
ExactTop exact_top(TokenScores& scores, const TokenPattern& pattern, const ExactTopOptions& options = {});

}  // namespace undertext
