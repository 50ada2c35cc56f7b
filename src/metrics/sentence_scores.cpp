#include "metrics/sentence_scores.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "metrics/edit_distance.h"
#include "metrics/ratio_table.h"
#include "metrics/word_scores.h"

namespace undertext {

SentenceScores score_sentences(std::span<const Sentence> truth, std::span<const Sentence> recovered) {
  SentenceScores scores;
  scores.truth = static_cast<std::int64_t>(truth.size());
  scores.recovered = static_cast<std::int64_t>(recovered.size());
  if (truth.empty() || recovered.empty()) return scores;

  scores.levenshtein_paper = mean_best_ratio(RatioTable(truth, recovered, paper_ratio));
  const RatioTable words(truth, recovered, word_ratio);
  scores.levenshtein = mean_best_ratio(words);
  SentenceMatching matching = match_sentences(words);
  scores.matched = matching.mean;
  scores.pairs = std::move(matching.pairs);
  const auto exact = static_cast<double>(count_exact(truth, recovered));
  scores.exact = exact / static_cast<double>(truth.size());
  scores.exact_precision = exact / static_cast<double>(recovered.size());
  scores.word_f1 = score_words(truth, recovered).f1;
  return scores;
}

void to_json(nlohmann::json& json, const SentenceScores& scores) {
  json = {{"levenshtein_paper", scores.levenshtein_paper},
          {"levenshtein", scores.levenshtein},
          {"matched", scores.matched},
          {"exact", scores.exact},
          {"exact_precision", scores.exact_precision},
          {"word_f1", scores.word_f1},
          {"recovered", scores.recovered},
          {"truth", scores.truth}};
}

}  // namespace undertext
