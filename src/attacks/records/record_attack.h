// Private records and their owners, from the global models of a federation's rounds (record-level, algorithms
// 1 and 2, and better).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federated/federation_observation.h"
#include "text/record_pattern.h"

namespace undertext {

enum class RecordMethod {
  baseline,   // the last model's exposure alone; one list for all victims
  eavesdrop,  // with who took part, eqs. 9 and 10
  watermark,  // with a text that the adversary put among the victim's, eqs. 11 and 12
  best,       // all rounds and all victims together
};

// How eavesdrop and watermark rank candidates; the baseline is always as published.
enum class RecordFormula {
  paper,  // as published: exposure of the whole record, candidates and their last exposure of the last model
  wide,   // eqs. 10 and 12 of the free characters' exposure, over the last few models
};

struct Watermark {
  std::int64_t client = 0;
  std::string text;
};

struct RecordAttack {
  RecordMethod method = RecordMethod::best;
  std::vector<std::int64_t> victims = {};  // empty: all clients
  std::vector<Watermark> watermarks = {};  // for the method of that name, one for each victim
  std::int64_t candidates = 1000;  // the likeliest texts of a model that are looked at; best: 100 at most
  RecordFormula formula = RecordFormula::paper;
  // What stands before a record; nothing: a line feed where the model knows that character.
  std::optional<std::string> context = {};
};

struct RecoveredRecord {
  std::string text;
  double rank = 0;         // what the order goes by, the smallest first: see rank_by_sum()
  double correlation = 0;  // with the victim: ECorr, or WCorr for the method watermark
  double exposure = 0;     // after the last round, eq. 5
  // The client with the highest ECorr, or, by the method best, with the clearest effect on the record.
  std::int64_t owner = 0;
  // The Secret Sharer's exposure; not by the method best, nor where the rank after the last round is unknown.
  std::optional<double> bits = {};
  std::optional<double> confidence = {};  // that this is the victim's record; only the method best says so
};

struct VictimRecords {
  std::int64_t client = 0;
  std::vector<RecoveredRecord> candidates;  // best first
};

struct RecordRecovery {
  std::vector<VictimRecords> victims;
  double log2_texts = 0;  // of the pattern
  // The rounds whose models were searched for candidates: the last ones one by one, or, by the method best,
  // all of them together. So many of the candidates, of each victim at least, are proven to be the likeliest
  // (after the last round, where models were searched one by one).
  std::int64_t first_searched = 0, last_searched = 0, proven = 0;
};

// UserError for a victim that is not there, for a victim without a watermark where one is needed, and for
// what the model cannot read.
RecordRecovery recover_records(const FederationObservation& observation, const RecordPattern& pattern,
                               const RecordAttack& attack);

}  // namespace undertext
