// What a readout got right.
#pragma once

#include "attacks/decepticons/readout.h"
#include "metrics/sequence_scores.h"

namespace undertext {

inline SequenceScores scores_of(const std::vector<Sentence>& truth, const DecepticonRecovery& recovery) {
  std::vector<Sentence> found;
  std::vector<std::vector<double>> confidence;
  std::vector<std::vector<bool>> certified;
  for (const RecoveredSequence& sequence : recovery.sequences) {
    found.push_back(sequence.ids);
    confidence.push_back(sequence.confidence);
    certified.push_back(sequence.certified);
  }
  return score_sequences(truth, found, {confidence, certified});
}

}  // namespace undertext
