#include "audit/guess.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "metrics/word_scores.h"

namespace undertext {

std::optional<double> guessed(std::span<const Sentence> truth, std::span<const Sentence> known) {
  std::map<Token, std::int64_t> counts;
  for (const Sentence& sentence : known)
    for (const Token token : sentence) ++counts[token];
  if (counts.empty()) return std::nullopt;
  std::vector<std::pair<std::int64_t, Token>> order;  // the most frequent first, then by number
  for (const auto& [token, count] : counts) order.emplace_back(-count, token);
  std::ranges::sort(order);
  std::set<Token> typed;
  for (const Sentence& sentence : truth) typed.insert(sentence.begin(), sentence.end());
  Sentence guess;
  for (const auto& [count, token] : order)
    if (guess.size() < typed.size()) guess.push_back(token);
  return score_words(truth, std::vector<Sentence>{guess}).f1;
}

}  // namespace undertext
