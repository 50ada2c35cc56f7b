// Every measure of how well sentences were recovered, taken together.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "metrics/sentence_matching.h"
#include "text/tokenizer.h"

namespace undertext {

// All are 0 when either side is empty.
struct SentenceScores {
  double levenshtein_paper = 0;     // 0 to 100: paper_ratio with the best true sentence, mean over recovered
  double levenshtein = 0;           // 0 to 100: word_ratio, likewise
  double matched = 0;               // 0 to 100: word_ratio one-to-one, mean over the true sentences
  double exact = 0;                 // share of the true sentences recovered exactly, copies counted
  double exact_precision = 0;       // share of the recovered sentences that are exactly true, copies counted
  double word_f1 = 0;               // F1 of the set of words in the recovered sentences
  std::int64_t recovered = 0;       // sentences
  std::int64_t truth = 0;           // sentences
  std::vector<SentencePair> pairs;  // the matching behind `matched`; not part of the JSON
};

SentenceScores score_sentences(std::span<const Sentence> truth, std::span<const Sentence> recovered);

void to_json(nlohmann::json& json, const SentenceScores& scores);

}  // namespace undertext
