#include "metrics/sequence_scores.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/assignment.h"
#include "base/error.h"
#include "metrics/bleu.h"
#include "metrics/calibration.h"
#include "metrics/common_subsequence.h"

namespace undertext {
namespace {

std::vector<Sentence> sorted_each(std::span<const Sentence> sequences) {
  std::vector<Sentence> sorted(sequences.begin(), sequences.end());
  for (Sentence& sequence : sorted) std::sort(sequence.begin(), sequence.end());
  return sorted;
}

Sentence sorted_together(std::span<const Sentence> sequences) {
  Sentence all;
  for (const Sentence& sequence : sequences) all.insert(all.end(), sequence.begin(), sequence.end());
  std::sort(all.begin(), all.end());
  return all;
}

// Of two sorted lists: what the bags share, copies counted.
std::int64_t overlap(const Sentence& first, const Sentence& second) {
  std::int64_t shared = 0;
  for (auto a = first.begin(), b = second.begin(); a != first.end() && b != second.end();) {
    if (*a == *b) {
      ++shared, ++a, ++b;
    } else {
      *a < *b ? ++a : ++b;
    }
  }
  return shared;
}

std::int64_t in_place(const Sentence& truth, const Sentence& recovered) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < std::min(truth.size(), recovered.size()); ++i)
    right += truth[i] == recovered[i] ? 1 : 0;
  return right;
}

std::vector<std::int64_t> match(std::span<const Sentence> truth, std::span<const Sentence> recovered) {
  constexpr double kTie = 1e-6;  // how little a token's place weighs beside its being there
  const std::vector<Sentence> of_truth = sorted_each(truth), of_recovered = sorted_each(recovered);
  std::vector<double> costs;
  costs.reserve(truth.size() * recovered.size());
  for (std::size_t t = 0; t < truth.size(); ++t)
    for (std::size_t r = 0; r < recovered.size(); ++r)
      costs.push_back(-static_cast<double>(overlap(of_truth[t], of_recovered[r])) -
                      kTie * static_cast<double>(in_place(truth[t], recovered[r])));
  return solve_assignment(costs, static_cast<std::int64_t>(truth.size()),
                          static_cast<std::int64_t>(recovered.size()));
}

void check_shape(const TokenBeliefs& beliefs, std::span<const Sentence> recovered) {
  const auto fits = [&](const auto& values) {
    if (values.empty()) return true;
    if (values.size() != recovered.size()) return false;
    for (std::size_t r = 0; r < recovered.size(); ++r)
      if (values[r].size() != recovered[r].size()) return false;
    return true;
  };
  UNDERTEXT_CHECK(fits(beliefs.confidence) && fits(beliefs.certified));
}

void score_beliefs(SequenceScores& scores, std::span<const Sentence> truth,
                   std::span<const Sentence> recovered, const TokenBeliefs& beliefs) {
  std::vector<const Sentence*> stands_for(recovered.size(), nullptr);
  for (std::size_t t = 0; t < truth.size(); ++t)
    if (scores.partner[t] >= 0) stands_for[static_cast<std::size_t>(scores.partner[t])] = &truth[t];
  Calibration calibration;
  bool any_certified = false;
  for (std::size_t r = 0; r < recovered.size(); ++r) {
    for (std::size_t i = 0; i < recovered[r].size(); ++i) {
      const bool certified = !beliefs.certified.empty() && beliefs.certified[r][i];
      any_certified = any_certified || certified;
      const Sentence* true_one = stands_for[r];
      const bool right = true_one != nullptr && i < true_one->size() && (*true_one)[i] == recovered[r][i];
      calibration.add(beliefs.confidence.empty() ? 0 : beliefs.confidence[r][i], certified, right);
    }
  }
  if (!beliefs.confidence.empty()) scores.calibration_error = calibration.error();
  if (!beliefs.certified.empty()) scores.certified_share = calibration.certified_share();
  if (any_certified) scores.certified_accuracy = calibration.certified_accuracy();
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace

SequenceScores score_sequences(std::span<const Sentence> truth, std::span<const Sentence> recovered,
                               const TokenBeliefs& beliefs) {
  check_shape(beliefs, recovered);
  SequenceScores scores;
  scores.truth = static_cast<std::int64_t>(truth.size());
  scores.recovered = static_cast<std::int64_t>(recovered.size());
  for (const Sentence& sequence : truth) scores.tokens += static_cast<std::int64_t>(sequence.size());
  scores.partner.assign(truth.size(), -1);
  if (!truth.empty() && !recovered.empty()) scores.partner = match(truth, recovered);
  score_beliefs(scores, truth, recovered, beliefs);
  if (scores.tokens == 0 || recovered.empty()) return scores;

  const auto count = static_cast<double>(truth.size());
  for (std::size_t t = 0; t < truth.size(); ++t) {
    if (scores.partner[t] < 0 || truth[t].empty()) continue;
    const Sentence& partner = recovered[static_cast<std::size_t>(scores.partner[t])];
    const std::int64_t right = in_place(truth[t], partner);
    scores.tokens_right += right;
    scores.most_vulnerable =
        std::max(scores.most_vulnerable, static_cast<double>(right) / static_cast<double>(truth[t].size()));
    scores.exact += (truth[t] == partner ? 1 : 0) / count;
    const std::int64_t common = common_subsequence<Token>(truth[t], partner);
    scores.rouge_l +=
        2 * static_cast<double>(common) / static_cast<double>(truth[t].size() + partner.size()) / count;
  }
  scores.total_accuracy = static_cast<double>(scores.tokens_right) / static_cast<double>(scores.tokens);
  const Sentence all = sorted_together(truth), found = sorted_together(recovered);
  scores.token_accuracy =
      static_cast<double>(overlap(all, found)) / static_cast<double>(std::max(all.size(), found.size()));
  scores.bleu = bleu(truth, recovered);
  return scores;
}

void to_json(nlohmann::json& json, const SequenceScores& scores) {
  json = {{"total_accuracy", scores.total_accuracy},
          {"token_accuracy", scores.token_accuracy},
          {"most_vulnerable", scores.most_vulnerable},
          {"exact", scores.exact},
          {"bleu", scores.bleu},
          {"rouge_l", scores.rouge_l},
          {"tokens_right", scores.tokens_right},
          {"tokens", scores.tokens},
          {"recovered", scores.recovered},
          {"truth", scores.truth},
          {"calibration_error", or_null(scores.calibration_error)},
          {"certified_share", or_null(scores.certified_share)},
          {"certified_accuracy", or_null(scores.certified_accuracy)}};
}

}  // namespace undertext
