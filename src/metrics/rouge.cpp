#include "metrics/rouge.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/assignment.h"
#include "metrics/common_subsequence.h"
#include "text/porter_stemmer.h"

namespace undertext {
namespace {

using Words = std::span<const std::string>;

double f1(double shared, std::size_t truth, std::size_t recovered) {
  return shared == 0 ? 0 : 2 * shared / static_cast<double>(truth + recovered);
}

// The n-grams of a text, by how often each occurs.
std::map<std::vector<std::string>, int> grams(Words words, std::size_t n) {
  std::map<std::vector<std::string>, int> counts;
  for (std::size_t i = 0; i + n <= words.size(); ++i)
    ++counts[std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(i),
                                      words.begin() + static_cast<std::ptrdiff_t>(i + n))];
  return counts;
}

}  // namespace

std::vector<std::string> rouge_words(std::string_view text, Stemming stemming) {
  constexpr std::size_t kUnstemmed = 3;  // letters, as the usual implementations have it
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.empty()) return;
    words.push_back(stemming == Stemming::porter && word.size() > kUnstemmed ? porter_stem(word) : word);
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital) {
      word += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      finish();
    }
  }
  finish();
  return words;
}

double rouge_n(Words truth, Words recovered, std::size_t n) {
  if (truth.size() < n || recovered.size() < n) return 0;
  const auto theirs = grams(truth, n);
  double shared = 0;
  for (const auto& [gram, count] : grams(recovered, n)) {
    const auto found = theirs.find(gram);
    if (found != theirs.end()) shared += std::min(count, found->second);
  }
  return f1(shared, truth.size() - n + 1, recovered.size() - n + 1);
}

double rouge_l(Words truth, Words recovered) {
  return f1(static_cast<double>(common_subsequence(truth, recovered)), truth.size(), recovered.size());
}

RougeScores score_rouge(std::span<const std::string> truth, std::span<const std::string> recovered,
                        Stemming stemming) {
  RougeScores scores;
  if (truth.empty() || recovered.empty()) return scores;
  std::vector<std::vector<std::string>> of_truth, of_recovered;
  for (const std::string& text : truth) of_truth.push_back(rouge_words(text, stemming));
  for (const std::string& text : recovered) of_recovered.push_back(rouge_words(text, stemming));
  constexpr double kTie = 1e-6;  // how little ROUGE-1 weighs beside ROUGE-L
  std::vector<double> costs;
  for (const auto& t : of_truth)
    for (const auto& r : of_recovered) costs.push_back(-rouge_l(t, r) - kTie * rouge_n(t, r, 1));
  const auto n = static_cast<std::int64_t>(truth.size()), m = static_cast<std::int64_t>(recovered.size());
  const std::vector<std::int64_t> partner = solve_assignment(costs, n, m);
  for (std::size_t t = 0; t < of_truth.size(); ++t) {
    if (partner[t] < 0) continue;
    const auto& other = of_recovered[static_cast<std::size_t>(partner[t])];
    scores.rouge_1 += rouge_n(of_truth[t], other, 1) / static_cast<double>(n);
    scores.rouge_2 += rouge_n(of_truth[t], other, 2) / static_cast<double>(n);
    scores.rouge_l += rouge_l(of_truth[t], other) / static_cast<double>(n);
  }
  return scores;
}

void to_json(nlohmann::json& json, const RougeScores& scores) {
  json = {{"rouge_1", scores.rouge_1}, {"rouge_2", scores.rouge_2}, {"rouge_l", scores.rouge_l}};
}

}  // namespace undertext
