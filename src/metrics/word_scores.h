// How much of a set of words was recovered (gboard-next-word, section 4.2).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "text/tokenizer.h"

namespace undertext {

struct WordScores {
  double precision = 0;        // share of the recovered words that are true
  double recall = 0;           // share of the true words that were recovered
  double f1 = 0;               // harmonic mean of the two
  std::int64_t recovered = 0;  // distinct words
  std::int64_t truth = 0;      // distinct words
};

// Compares the two as sets: order and repeats do not count. An empty set scores 0, whatever the other is.
WordScores score_words(std::span<const Token> truth, std::span<const Token> recovered);

// The same, for the words of whole sentences.
WordScores score_words(std::span<const Sentence> truth, std::span<const Sentence> recovered);

// The share of the texts' words, copies counted, that a list with counts has: the overlap of the two bags
// over the larger of them.
double score_counts(std::span<const Sentence> truth, std::span<const Token> words,
                    std::span<const double> counts);

void to_json(nlohmann::json& json, const WordScores& scores);

}  // namespace undertext
