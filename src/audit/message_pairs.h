// True and recovered messages side by side, as reports show them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "metrics/sentence_scores.h"
#include "metrics/sequence_scores.h"
#include "text/tokenizer.h"

namespace undertext {

std::vector<std::string> texts_of(std::span<const Sentence> sentences, const Tokenizer& tokenizer);

// Every true message with the recovered one that stands for it, then those that stand for none: a list of
// {"truth", "recovered", "exact", "ratio"}.
nlohmann::json pairs_of(std::span<const Sentence> truth, const std::vector<Sentence>& recovered,
                        const SentenceScores& scores, const Tokenizer& tokenizer);
// Of sequences the ratio is that of tokens in their place.
nlohmann::json pairs_of(std::span<const Sentence> truth, const std::vector<Sentence>& recovered,
                        const SequenceScores& scores, const Tokenizer& tokenizer);

}  // namespace undertext
