#include "metrics/sentence_matching.h"

#include <map>

#include "base/assignment.h"
#include "metrics/edit_distance.h"

namespace undertext {

SentenceMatching match_sentences(const RatioTable& table) {
  const std::int64_t n = table.truth(), m = table.recovered();
  std::vector<double> costs;  // n x m
  costs.reserve(static_cast<std::size_t>(n * m));
  for (std::int64_t t = 0; t < n; ++t) {
    for (std::int64_t r = 0; r < m; ++r) costs.push_back(-table.at(t, r));
  }
  const std::vector<std::int64_t> column_of = solve_assignment(costs, n, m);

  SentenceMatching matching;
  for (std::int64_t t = 0; t < n; ++t) {
    const std::int64_t r = column_of[static_cast<std::size_t>(t)];
    // A partner without anything in common is no partner.
    if (r < 0 || table.at(t, r) <= 0) continue;
    matching.pairs.push_back({t, r, table.at(t, r)});
    matching.mean += table.at(t, r);
  }
  if (n > 0) matching.mean /= static_cast<double>(n);
  return matching;
}

SentenceMatching match_sentences(std::span<const Sentence> truth, std::span<const Sentence> recovered) {
  return match_sentences(RatioTable(truth, recovered, word_ratio));
}

std::int64_t count_exact(std::span<const Sentence> truth, std::span<const Sentence> recovered) {
  std::map<Sentence, std::int64_t> left;
  for (const Sentence& sentence : truth) ++left[sentence];
  std::int64_t count = 0;
  for (const Sentence& sentence : recovered) {
    const auto place = left.find(sentence);
    if (place == left.end() || place->second == 0) continue;
    --place->second;
    ++count;
  }
  return count;
}

}  // namespace undertext
