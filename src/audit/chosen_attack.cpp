#include "audit/chosen_attack.h"

#include "attacks/exact_sentences.h"
#include "attacks/greedy_sentences.h"
#include "attacks/words.h"
#include "audit/oracle.h"
#include "base/error.h"

namespace undertext {

WordRecovery recover(const WordAttack& attack, const Observation& observation,
                     std::span<const Sentence> truth) {
  if (attack.method == "best") return recover_words(observation);
  UNDERTEXT_CHECK(attack.method == "paper");
  if (attack.cutoff == "oracle") return recover_words_by_oracle(observation, truth);
  if (attack.cutoff == "none") return recover_words_by_sign(observation);
  UNDERTEXT_CHECK(attack.cutoff == "auto");
  return recover_words_by_cutoff(observation);
}

SentenceRecovery recover(const SentenceAttack& attack, const Observation& observation,
                         std::span<const Sentence> truth) {
  if (attack.method == "best")
    return recover_exact_sentences(observation, {.length = attack.length, .count = attack.count});
  const Sentence words = ids_of(recover(WordAttack{"paper", attack.cutoff}, observation, truth));
  GreedyOptions options;
  if (attack.length > 0) options.length = attack.length;
  options.count = attack.count;
  options.scale = attack.scale;
  return recover_greedy_sentences(observation, words, options);
}

}  // namespace undertext
