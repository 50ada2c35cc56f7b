// One update under all attacks: the rows and samples that it adds to the results of an audit.
#pragma once

#include <span>

#include "audit/result_row.h"
#include "audit/trials.h"
#include "federated/observation.h"
#include "text/tokenizer.h"

namespace undertext {

struct AttackedUpdate {
  const Observation& observation;
  const Tokenizer& tokenizer;
  std::span<const Sentence> truth;  // meets the recovered texts in the metrics alone
  RowFacts facts;                   // all but the attack, its method and what it was told
};

// Appends to the results. What takes longer than an audit has is not tried, and it is said why.
void add_rows(const AttackedUpdate& update, TrialRows& results);

}  // namespace undertext
