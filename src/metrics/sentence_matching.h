// Which recovered sentence stands for which true one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/ratio_table.h"
#include "text/tokenizer.h"

namespace undertext {

struct SentencePair {
  std::int64_t truth;      // index of the true sentence
  std::int64_t recovered;  // index of the recovered one
  double ratio;            // word_ratio, above 0
};

struct SentenceMatching {
  std::vector<SentencePair> pairs;  // in the order of the true sentences
  double mean = 0;                  // over all true sentences; one without a partner counts 0
};

// The one-to-one matching with the greatest sum of ratios: a recovered sentence is credited once, however
// many true ones it resembles.
SentenceMatching match_sentences(const RatioTable& table);
SentenceMatching match_sentences(std::span<const Sentence> truth, std::span<const Sentence> recovered);

// How many sentences the two have in common, each copy of a repeated sentence counted.
std::int64_t count_exact(std::span<const Sentence> truth, std::span<const Sentence> recovered);

}  // namespace undertext
