#include "audit/sequence_rows.h"

#include "audit/message_pairs.h"
#include "metrics/sentence_scores.h"
#include "metrics/sequence_scores.h"
#include "metrics/word_scores.h"

namespace undertext {

using nlohmann::json;

void add_word_row(const RowFacts& facts, std::span<const Sentence> truth, const WordRecovery& recovery,
                  double seconds, TrialRows& results) {
  json row = row_json(facts);
  const WordScores scores = score_words(truth, std::vector<Sentence>{ids_of(recovery)});
  row["recovered"] = scores.recovered;
  row["truth"] = scores.truth;
  row["scores"] = scores;
  row["seconds"] = seconds;
  results.rows.push_back(std::move(row));
}

void add_sequence_row(const RowFacts& facts, std::span<const Sentence> truth,
                      const std::vector<Sentence>& recovered, std::optional<bool> certified, double seconds,
                      const Tokenizer& tokenizer, TrialRows& results) {
  json row = row_json(facts);
  const SequenceScores tokens = score_sequences(truth, recovered);
  row["scores"] = score_sentences(truth, recovered);
  row["scores"]["total_accuracy"] = tokens.total_accuracy;
  row["scores"]["token_accuracy"] = tokens.token_accuracy;
  row["scores"]["most_vulnerable"] = tokens.most_vulnerable;
  row["scores"]["bleu"] = tokens.bleu;
  row["recovered"] = tokens.recovered;
  row["truth"] = tokens.truth;
  if (certified) row["certified"] = *certified;
  row["seconds"] = seconds;
  results.samples.push_back({{"row", facts.id}, {"pairs", pairs_of(truth, recovered, tokens, tokenizer)}});
  results.rows.push_back(std::move(row));
}

}  // namespace undertext
