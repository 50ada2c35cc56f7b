#include <algorithm>
#include <map>

#include "attacks/exact_sentences.h"
#include "attacks/words.h"

namespace undertext {
namespace {

// Beyond so many typed words the exact search takes long, and whole rows do nearly as well at once.
constexpr double kWorthSolving = 1200;

}  // namespace

WordRecovery words_of_sentences(const Observation& observation, const SentenceRecovery& sentences) {
  const std::vector<double> scores = output_bias_scores(observation);
  std::map<Token, double> counts;
  for (const RecoveredSentence& sentence : sentences.sentences)
    for (Token word : sentence.words) counts[word] += 1;
  WordRecovery result;
  result.rule = "the words of the sentences that explain the update (certified)";
  for (const auto& [word, count] : counts) result.words.push_back({word, count, scores[word]});
  std::stable_sort(result.words.begin(), result.words.end(),
                   [](const auto& a, const auto& b) { return a.score < b.score; });
  return result;
}

WordRecovery recover_words(const Observation& observation) {
  if (observation.update.protocol.epochs == 1) {
    ExactOptions options;
    options.only_if_quiet = true;
    options.most_words = kWorthSolving;
    const SentenceRecovery sentences = recover_exact_sentences(observation, options);
    if (sentences.certified) return words_of_sentences(observation, sentences);
  }
  return recover_words_by_rows(observation);
}

}  // namespace undertext
