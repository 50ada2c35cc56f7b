#include <algorithm>
#include <map>

#include "attacks/exact_sentences.h"
#include "attacks/words.h"

namespace undertext {
namespace {

// Up to so many sentences the exact search takes seconds; beyond, whole rows do nearly as well at once.
constexpr std::int64_t kWorthSolving = 64;

}  // namespace

WordRecovery recover_words(const Observation& observation) {
  const Protocol& protocol = observation.update.protocol;
  if (protocol.epochs == 1 && protocol.count <= kWorthSolving) {
    ExactOptions options;
    options.only_if_quiet = true;
    const SentenceRecovery sentences = recover_exact_sentences(observation, options);
    if (sentences.certified) {
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
  }
  return recover_words_by_rows(observation);
}

}  // namespace undertext
