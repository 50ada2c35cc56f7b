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

// What the published methods take exposure of.
enum class ExposureOf {
  whole,  // the whole record, as the paper does
  free,   // the free characters alone, without the drift of the fixed ones
};

struct Watermark {
  std::int64_t client = 0;
  std::string text;
};

struct RecordAttack {
  RecordMethod method = RecordMethod::best;
  std::vector<std::int64_t> victims = {};  // empty: all clients
  std::vector<Watermark> watermarks = {};  // for the method of that name, one for each victim
  std::int64_t candidates = 1000;          // the likeliest texts that are looked at; best: 100 at most
  ExposureOf exposure = ExposureOf::whole;
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
  std::optional<double> bits = {};        // the Secret Sharer's exposure; published methods only
  std::optional<double> confidence = {};  // that this is the victim's record; only the method best says so
};

struct VictimRecords {
  std::int64_t client = 0;
  std::vector<RecoveredRecord> candidates;  // best first
};

struct RecordRecovery {
  std::vector<VictimRecords> victims;
  double log2_texts = 0;  // of the pattern
  // The rounds whose models were searched for candidates: the last one, or, by the method best, all of them
  // together. So many of the candidates, of each victim at least, are proven to be the likeliest.
  std::int64_t first_searched = 0, last_searched = 0, proven = 0;
};

// UserError for a victim that is not there, for a victim without a watermark where one is needed, and for
// what the model cannot read.
RecordRecovery recover_records(const FederationObservation& observation, const RecordPattern& pattern,
                               const RecordAttack& attack);

}  // namespace undertext
