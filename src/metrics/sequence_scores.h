// How much of a client's sequences was recovered, token by token and place by place (decepticons, appendix
// A).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace undertext {

// What an attack says of each token that it recovered. Either is empty, or has the shape of the sequences.
struct TokenBeliefs {
  std::span<const std::vector<double>> confidence = {};  // in [0, 1]
  std::span<const std::vector<bool>> certified = {};
};

struct SequenceScores {
  double total_accuracy = 0;   // share of the true tokens that stand in their sequence and their place
  double token_accuracy = 0;   // what the bags of all tokens share, over the larger of them
  double most_vulnerable = 0;  // total accuracy of the sequence that was recovered best
  double exact = 0;            // share of the true sequences without a wrong token
  double bleu = 0;             // of token ids, see metrics/bleu.h
  double rouge_l = 0;          // F1 of the longest common subsequence of token ids, mean over true sequences
  std::int64_t tokens_right = 0;  // those behind total_accuracy
  std::int64_t tokens = 0;        // true ones
  std::int64_t recovered = 0;     // sequences
  std::int64_t truth = 0;         // sequences
  // Only where the attack says how sure it is; a sequence that stands for no true one is wrong throughout.
  std::optional<double> calibration_error;   // see metrics/calibration.h
  std::optional<double> certified_share;     // of the recovered tokens
  std::optional<double> certified_accuracy;  // nothing when none is certified
  std::vector<std::int64_t> partner;         // of each true sequence, -1: none; not part of the JSON
};

// Sequences are matched one-to-one so that the sum of tokens that partners share, wherever they stand, is
// greatest, and where that is equal so that most stand in their place.
SequenceScores score_sequences(std::span<const Sentence> truth, std::span<const Sentence> recovered,
                               const TokenBeliefs& beliefs = {});

void to_json(nlohmann::json& json, const SequenceScores& scores);

}  // namespace undertext
