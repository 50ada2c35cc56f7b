// Rows of an audit about clients that hold sequences of tokens: what was read, scored and sampled.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "attacks/recovery.h"
#include "audit/chosen_attack.h"
#include "audit/result_row.h"
#include "audit/trials.h"
#include "text/tokenizer.h"

namespace undertext {

// truth: the client's sequences, which meet what was read in the metrics alone. seconds: of the attack.
void add_word_row(const RowFacts& facts, std::span<const Sentence> truth, const WordRecovery& recovery,
                  double seconds, TrialRows& results);
// certified: what the attack says of all of it; nothing: it cannot say.
void add_sequence_row(const RowFacts& facts, std::span<const Sentence> truth,
                      const std::vector<Sentence>& recovered, std::optional<bool> certified, double seconds,
                      const Tokenizer& tokenizer, TrialRows& results);

}  // namespace undertext
