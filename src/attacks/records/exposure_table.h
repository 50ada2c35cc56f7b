// Candidate records, and how exposed each of them is after every round.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attacks/records/token_pattern.h"
#include "base/matrix.h"
#include "federated/federation_observation.h"

namespace undertext {

struct RecordCandidates {
  std::vector<Sentence> records;  // each once
  // Of each snapshot that was searched: how many of its likeliest texts are proven to be among the records.
  std::vector<std::int64_t> proven;
  std::int64_t of_first = 0;  // the first so many records are those of the first snapshot, best first
};

struct CandidateSearch {
  std::int64_t top = 1000;  // of each snapshot
  std::int64_t most_read = 100'000;
  Sentence context = {};  // what stands before a record
};

// The likeliest texts of the pattern after each of these rounds, those of the first round first.
RecordCandidates likeliest_records(const FederationObservation& observation, const TokenPattern& pattern,
                                   std::span<const std::int64_t> rounds, const CandidateSearch& search);

// All (rounds + 1, records); row 0 is the model before the first round.
struct ExposureTable {
  Matrix<double> whole;  // record-level, eq. 5: the mean log-probability of a token
  Matrix<double> free;   // the same of the free tokens alone
  Matrix<double>
      given;  // the log-probability of the whole record among all texts of the pattern (not a mean)

  std::int64_t rounds() const { return whole.rows - 1; }
  std::int64_t records() const { return whole.cols; }
};

ExposureTable exposures(const FederationObservation& observation, const TokenPattern& pattern,
                        std::span<const Sentence> records, const Sentence& context);

// Eq. 5 of any text after every round, rounds + 1 numbers: for watermarks, which follow no pattern.
std::vector<double> exposures_of_text(const FederationObservation& observation, const Sentence& text);

// One column of a table.
std::vector<double> of_record(const Matrix<double>& table, std::int64_t record);

}  // namespace undertext
