// Attacks by the names that flags, experiments and reports share: the one place that turns a name into a
// call.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attacks/decepticons/readout.h"
#include "attacks/film/film.h"
#include "attacks/recovery.h"
#include "federated/observation.h"
#include "metrics/film_scores.h"

namespace undertext {

struct WordAttack {
  std::string method = "best";  // best, paper
  std::string cutoff = "auto";  // paper, of keyboards: none, auto, oracle
  std::int64_t tokens = 0;      // paper, of transformers: tokens of all texts when known
};

struct SentenceAttack {
  std::string method = "best";
  std::string cutoff = "auto";       // paper: how the words that it starts from are told apart
  std::int64_t length = 0;           // words per sentence when known; 0: any (paper: its own 4)
  std::int64_t count = 0;            // number of sentences when known
  std::optional<double> scale = {};  // paper: empty is chosen without the truth
};

struct MatchingAttack {
  std::string method = "tag";        // dlg, tag
  std::string labels = "optimised";  // optimised, recovered, known
  std::string bag = "none";          // none, recovered, truth
  std::int64_t length = 0;           // tokens per text when known
  std::int64_t count = 0;            // texts when known
  std::int64_t iterations = 0;       // 0: the method's own
  std::int64_t restarts = 1;
  double step_size = 0;  // 0: the method's own
  double alpha = 0.01;   // tag: weight of the absolute distance
  std::uint64_t seed = 1;
  bool progress = false;

  // Whether it uses what no adversary has.
  bool oracle() const { return labels == "known" || bag == "truth"; }
};

// Of a state that a malicious server corrupted, which keeps its key.
struct DecepticonAttack {
  std::string method = "best";  // best, paper
  std::int64_t sequences = 0;   // when told
  std::int64_t length = 0;      // tokens per sequence when told
  double bag_cutoff = 1.5;      // paper, of tied embeddings
  std::uint64_t seed = 1;
};

// Of a causal transformer.
struct FilmAttack {
  std::string method = "best";   // best, paper
  std::string bag = "gradient";  // gradient, oracle (the truth, as published), none (all words)
  std::string reorder = "both";  // none, phrases, tokens, both
  std::int64_t beam = 32;
  std::int64_t sentences = 0;  // to recover; 0: paper: one, best: all
  std::int64_t batch = 0;      // texts of the client's step, where the update does not say
  std::int64_t longest = 40;   // paper: tokens of a text at most
  bool as_code = false;        // paper: as its published code where that does other than the paper says
  std::int64_t ngram = 2;      // paper: tokens that pay when they come again together; 0: none do
  double ngram_penalty = std::numeric_limits<double>::infinity();
  std::int64_t groups = 0;  // paper: of beams; 0: its own
  double diversity = 0.1;
  std::int64_t reorder_steps = -1;  // of each kind; negative: the paper's, or its code's
  double beta = 1;
  bool fast_norm = false;
  std::optional<double> noise = {};  // the deviation of a defence's noise; nothing: as the update says
  std::uint64_t seed = 1;
  bool trace = false;  // tells on standard error how the search goes

  bool oracle() const { return bag == "oracle"; }
};

// truth: for what is called oracle alone, and otherwise not looked at.
WordRecovery recover(const WordAttack& attack, const Observation& observation,
                     std::span<const Sentence> truth);
SentenceRecovery recover(const SentenceAttack& attack, const Observation& observation,
                         std::span<const Sentence> truth);

SentenceRecovery recover(const MatchingAttack& attack, const Observation& observation,
                         std::span<const Sentence> truth);

DecepticonRecovery recover(const DecepticonAttack& attack, const Observation& observation,
                           const DecepticonKey& key);

// tokenizer: tells the paper's rules which tokens begin with a capital letter and which end a sentence.
FilmRecovery recover(const FilmAttack& attack, const Observation& observation, const Tokenizer& tokenizer,
                     std::span<const Sentence> truth);
std::vector<Sentence> sentences_of(const FilmRecovery& recovery);
std::vector<double> confidence_of(const FilmRecovery& recovery);
// A bag that was given is none that the attack recovered, and has no scores.
FilmScores scores_of(const FilmRecovery& recovery, std::span<const Sentence> truth,
                     const Tokenizer& tokenizer, const EntityFinder& entities = {});

// The recovered sequences as metrics take them, token by token.
struct RecoveredTokens {
  std::vector<Sentence> ids;
  std::vector<std::vector<double>> confidence;
  std::vector<std::vector<bool>> certified;
};
RecoveredTokens tokens_of(const DecepticonRecovery& recovery);

}  // namespace undertext
