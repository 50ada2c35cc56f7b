#include "audit/chosen_attack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "attacks/bag_by_counts.h"
#include "attacks/bag_of_words.h"
#include "attacks/exact_sentences.h"
#include "attacks/film/written_tokens.h"
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
  if (attack.bag == "oracle") {
    options.oracle_bag = words_in(truth);
    // That a text may end there is no secret, whether or not the truth writes it down.
    if (const std::optional<Token> end = tokenizer.special().end; attack.method == "best" && end)
      if (std::ranges::find(options.oracle_bag, *end) == options.oracle_bag.end())
        options.oracle_bag.push_back(*end);
  }
  if (attack.bag == "none") {
    options.oracle_bag.resize(static_cast<std::size_t>(observation.before->vocabulary_size()));
    std::iota(options.oracle_bag.begin(), options.oracle_bag.end(), Token{0});
  }
  options.reorder = attack.reorder == "none"      ? FilmReorder::none
                    : attack.reorder == "phrases" ? FilmReorder::phrases
                    : attack.reorder == "tokens"  ? FilmReorder::tokens
                                                  : FilmReorder::both;
  options.starts = tokens_that_begin_sentences(tokenizer);
  options.ends = tokens_that_end_sentences(tokenizer);
  options.beam = attack.beam;
  options.sentences = attack.sentences;
  options.batch = attack.batch;
  options.longest = attack.longest;
  options.ngram = attack.ngram;
  options.ngram_penalty = attack.ngram_penalty;
  if (attack.as_code) follow_published_code(options);
  if (attack.groups > 0) options.groups = attack.groups;
  options.diversity = attack.diversity;
  if (attack.reorder_steps >= 0) options.phrase_steps = options.token_steps = attack.reorder_steps;
  options.beta = attack.beta;
  options.fast_norm = options.fast_norm || attack.fast_norm;
  options.noise = attack.noise.value_or(known_noise(observation));
  options.seed = Seed(attack.seed);
  if (attack.trace)
    options.trace = [](const std::string& line) { fmt::print(stderr, "undertext: {}\n", line); };
  return film(observation, options);
}

std::vector<Sentence> sentences_of(const FilmRecovery& recovery) {
  std::vector<Sentence> sentences(recovery.sentences.size());
  std::ranges::transform(recovery.sentences, sentences.begin(), &FilmSentence::ids);
  return sentences;
}

std::vector<double> confidence_of(const FilmRecovery& recovery) {
  std::vector<double> confidence(recovery.sentences.size());
  std::ranges::transform(recovery.sentences, confidence.begin(), &FilmSentence::confidence);
  return confidence;
}

FilmScores scores_of(const FilmRecovery& recovery, std::span<const Sentence> truth,
                     const Tokenizer& tokenizer, const EntityFinder& entities) {
  const std::vector<double> confidence = confidence_of(recovery);
  FilmScoring scoring{.entities = entities, .confidence = confidence};
  if (recovery.bag_from != "oracle") scoring.bag = recovery.bag;
  return film_scores(truth, sentences_of(recovery), tokenizer, scoring);
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
