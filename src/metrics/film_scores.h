// How much of a batch's sentences was recovered, as film measures it (section 6.1, tables 3, 4, 9 and 10).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/rouge.h"
#include "metrics/word_scores.h"
#include "text/entities.h"
#include "text/tokenizer.h"

namespace undertext {

// One recovered sentence against the batch: each number is the greatest over the true sentences, which may
// differ from number to number, as in the published code.
struct RecoveredSentenceScores {
  double rouge_1 = 0, rouge_2 = 0, rouge_l = 0;
  // F1 of the sets of named entities. Nothing where the nearest true sentence has none: the paper's texts all
  // have one at least (appendix B.1).
  std::optional<double> nerr;
  bool exact = false;         // word for word one of the true sentences
  std::int64_t nearest = -1;  // the true sentence with the greatest ROUGE-L
};

struct FilmScores {
  // Of the sentence that the attack ranks first: what film's figure 3 and tables 9 and 10 average over
  // batches. All zero where nothing was recovered.
  RecoveredSentenceScores first;
  // The greatest of each number over all recovered sentences. The truth picks them: no adversary knows which
  // they are.
  RecoveredSentenceScores best;
  // One-to-one: each true sentence with at most one recovered one, means over all true sentences.
  RougeScores matched;
  RougeScores matched_stemmed;  // the same with words cut to their stems
  double exact = 0;             // share of the true sentences recovered word for word, copies counted
  // Share of the entities of all true sentences that stand in some recovered one; nothing: there is none.
  std::optional<double> entity_recall;
  // Table 3: of the true sentences those that some recovered one comes near, and of the recovered ones those
  // that come near a true one: ROUGE-L above a quarter.
  double recall_25 = 0, precision_25 = 0;
  std::optional<WordScores> bag;  // table 4; nothing: no bag was given
  // Of the attack's confidence: whether it tells sentences that are right (ROUGE-L above nine tenths) from
  // others. Nothing where all are, or none is, or no confidence was given.
  std::optional<double> auc;
  std::int64_t recovered = 0, truth = 0;           // sentences
  std::vector<RecoveredSentenceScores> sentences;  // of each recovered one
};

struct FilmScoring {
  EntityFinder entities = {};
  std::span<const double> confidence = {};         // of each recovered sentence; empty: not told
  std::optional<std::span<const Token>> bag = {};  // as the attack recovered it; nothing: it tells none
};

// recovered: best first. What marks the beginning, the end or padding does not count. Exact means the same
// tokens; ROUGE and entities are those of the texts.
FilmScores film_scores(std::span<const Sentence> truth, std::span<const Sentence> recovered,
                       const Tokenizer& tokenizer, const FilmScoring& scoring = {});

// Names as in tables: rouge_l, exact, ... one-to-one; first_rouge_l, best_rouge_l; bag_precision. What there
// is nothing to say of is left out.
void to_json(nlohmann::json& json, const FilmScores& scores);

}  // namespace undertext
