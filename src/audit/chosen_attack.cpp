#include "audit/chosen_attack.h"

#include <numeric>
#include <set>

#include "attacks/bag_by_counts.h"
#include "attacks/bag_of_words.h"
#include "attacks/exact_sentences.h"
#include "attacks/gradient_matching.h"
#include "attacks/greedy_sentences.h"
#include "attacks/words.h"
#include "audit/oracle.h"
#include "base/error.h"

namespace undertext {

namespace {

// The keyboard's models predict every word from its start on; what is known of them is not known of others.
bool is_keyboard(const Observation& observation) {
  return observation.before->start_token() != kNoToken;
}

Sentence words_in(std::span<const Sentence> sentences) {
  std::set<Token> words;
  for (const Sentence& sentence : sentences) words.insert(sentence.begin(), sentence.end());
  return {words.begin(), words.end()};
}

template <typename Test>
Sentence tokens_where(const Tokenizer& tokenizer, Test test) {
  Sentence tokens;
  for (Token id = 0; id < tokenizer.size(); ++id)
    if (test(tokenizer.decode(Sentence{id}))) tokens.push_back(id);
  return tokens;
}

bool begins_with_capital(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  return first != std::string::npos && text[first] >= 'A' && text[first] <= 'Z';
}

bool ends_a_sentence(const std::string& text) {
  return text.find_first_of(".?!") != std::string::npos;
}

}  // namespace

WordRecovery recover(const WordAttack& attack, const Observation& observation,
                     std::span<const Sentence> truth) {
  if (!is_keyboard(observation))
    return attack.method == "best" ? recover_bag_by_counts(observation)
                                   : recover_bag(observation, {.tokens = attack.tokens});
  if (attack.method == "best") return recover_words(observation);
  UNDERTEXT_CHECK(attack.method == "paper");
  if (attack.cutoff == "oracle") return recover_words_by_oracle(observation, truth);
  if (attack.cutoff == "none") return recover_words_by_sign(observation);
  UNDERTEXT_CHECK(attack.cutoff == "auto");
  return recover_words_by_cutoff(observation);
}

SentenceRecovery recover(const SentenceAttack& attack, const Observation& observation,
                         std::span<const Sentence> truth) {
  if (!is_keyboard(observation))
    fail("a {} model: its texts are read by dlg and tag so far, expected one of these",
         observation.before->kind());
  if (attack.method == "best")
    return recover_exact_sentences(observation, {.length = attack.length, .count = attack.count});
  const Sentence words = ids_of(recover(WordAttack{"paper", attack.cutoff}, observation, truth));
  GreedyOptions options;
  if (attack.length > 0) options.length = attack.length;
  options.count = attack.count;
  options.scale = attack.scale;
  return recover_greedy_sentences(observation, words, options);
}

SentenceRecovery recover(const MatchingAttack& attack, const Observation& observation,
                         std::span<const Sentence> truth) {
  MatchingOptions options;
  options.method = attack.method == "dlg" ? MatchingMethod::dlg : MatchingMethod::tag;
  if (attack.labels == "recovered") options.labels = MatchingLabels::recovered;
  if (attack.labels == "known") {
    options.labels = MatchingLabels::known;
    options.known = truth;
  }
  Sentence bag;
  if (attack.bag == "recovered") bag = ids_of(recover(WordAttack{}, observation, {}));
  if (attack.bag == "truth") bag = words_in(truth);
  options.bag = bag;
  options.length = attack.length;
  options.count = attack.count;
  options.iterations = attack.iterations;
  options.restarts = attack.restarts;
  options.step_size = attack.step_size;
  options.alpha = attack.alpha;
  options.seed = Seed(attack.seed);
  options.progress = attack.progress;
  return recover_by_matching(observation, options);
}

DecepticonRecovery recover(const DecepticonAttack& attack, const Observation& observation,
                           const DecepticonKey& key) {
  const DecepticonOptions options{.sequences = attack.sequences,
                                  .length = attack.length,
                                  .bag_cutoff = attack.bag_cutoff,
                                  .seed = Seed(attack.seed)};
  return attack.method == "paper" ? read_as_in_paper(observation, key, options)
                                  : read_exactly(observation, key, options);
}

FilmRecovery recover(const FilmAttack& attack, const Observation& observation, const Tokenizer& tokenizer,
                     std::span<const Sentence> truth) {
  FilmOptions options;
  options.method = attack.method == "paper" ? FilmMethod::paper : FilmMethod::best;
  if (attack.bag != "gradient") options.bag = FilmBag::oracle;
  if (attack.bag == "oracle") options.oracle_bag = words_in(truth);
  if (attack.bag == "none") {
    options.oracle_bag.resize(static_cast<std::size_t>(observation.before->vocabulary_size()));
    std::iota(options.oracle_bag.begin(), options.oracle_bag.end(), Token{0});
  }
  options.reorder = attack.reorder == "none"      ? FilmReorder::none
                    : attack.reorder == "phrases" ? FilmReorder::phrases
                    : attack.reorder == "tokens"  ? FilmReorder::tokens
                                                  : FilmReorder::both;
  options.starts = tokens_where(tokenizer, begins_with_capital);
  options.ends = tokens_where(tokenizer, ends_a_sentence);
  options.beam = attack.beam;
  options.sentences = attack.sentences;
  options.reorder_steps = attack.reorder_steps;
  options.beta = attack.beta;
  options.noise = attack.noise;
  options.seed = Seed(attack.seed);
  return film(observation, options);
}

std::vector<Sentence> sentences_of(const FilmRecovery& recovery) {
  std::vector<Sentence> sentences;
  for (const FilmSentence& sentence : recovery.sentences) sentences.push_back(sentence.ids);
  return sentences;
}

RecoveredTokens tokens_of(const DecepticonRecovery& recovery) {
  RecoveredTokens tokens;
  for (const RecoveredSequence& sequence : recovery.sequences) {
    tokens.ids.push_back(sequence.ids);
    tokens.confidence.push_back(sequence.confidence);
    tokens.certified.push_back(sequence.certified);
  }
  return tokens;
}

}  // namespace undertext
