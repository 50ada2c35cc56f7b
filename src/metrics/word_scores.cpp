#include "metrics/word_scores.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace undertext {
namespace {

std::vector<Token> sorted_set(std::vector<Token> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::vector<Token> words_of(std::span<const Sentence> sentences) {
  std::vector<Token> words;
  for (const Sentence& sentence : sentences) words.insert(words.end(), sentence.begin(), sentence.end());
  return words;
}

}  // namespace

WordScores score_words(std::span<const Token> truth, std::span<const Token> recovered) {
  const std::vector<Token> t = sorted_set({truth.begin(), truth.end()});
  const std::vector<Token> r = sorted_set({recovered.begin(), recovered.end()});
  std::vector<Token> both;
  std::set_intersection(t.begin(), t.end(), r.begin(), r.end(), std::back_inserter(both));

  WordScores scores;
  scores.truth = static_cast<std::int64_t>(t.size());
  scores.recovered = static_cast<std::int64_t>(r.size());
  if (both.empty()) return scores;
  const auto hits = static_cast<double>(both.size());
  scores.precision = hits / static_cast<double>(r.size());
  scores.recall = hits / static_cast<double>(t.size());
  scores.f1 = 2 * hits / static_cast<double>(t.size() + r.size());
  return scores;
}

WordScores score_words(std::span<const Sentence> truth, std::span<const Sentence> recovered) {
  return score_words(std::span<const Token>(words_of(truth)), std::span<const Token>(words_of(recovered)));
}

double score_counts(std::span<const Sentence> truth, std::span<const Token> words,
                    std::span<const double> counts) {
  std::map<Token, double> left;
  double total = 0, found = 0, shared = 0;
  for (const Sentence& sentence : truth)
    for (const Token token : sentence) ++left[token], ++total;
  for (std::size_t i = 0; i < words.size(); ++i) {
    found += counts[i];
    const auto place = left.find(words[i]);
    if (place == left.end()) continue;
    const double both = std::min(place->second, counts[i]);
    shared += both;
    place->second -= both;
  }
  return total == 0 || found == 0 ? 0 : shared / std::max(total, found);
}

void to_json(nlohmann::json& json, const WordScores& scores) {
  json = {{"f1", scores.f1},
          {"precision", scores.precision},
          {"recall", scores.recall},
          {"recovered", scores.recovered},
          {"truth", scores.truth}};
}

}  // namespace undertext
