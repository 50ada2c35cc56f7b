#include "attacks/bag_of_words.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <queue>

#include "attacks/embedding_rows.h"
#include "attacks/words.h"
#include "base/error.h"
#include "models/soft_model.h"

namespace undertext {
namespace {

// The greedy end of both algorithms: each token that was found takes one share of the evidence (most is
// best); then whoever has most evidence left takes another, until there are `tokens`.
WordRecovery share_out(std::vector<double> evidence, const std::vector<char>& found, std::int64_t tokens,
                       bool from_found_alone, std::string rule) {
  std::vector<double> count(evidence.size(), 0.0);
  const std::vector<double> score = evidence;
  double total = 0;
  std::int64_t placed = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!found[k]) continue;
    total += std::max(0.0, evidence[k]);
    ++placed;
  }
  // Unknown: each token once.
  const double share = total / static_cast<double>(std::max(tokens, placed));
  using Entry = std::pair<double, std::int64_t>;  // evidence left, minus the token: ties go to the lowest id
  std::priority_queue<Entry> best;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k]) {
      count[k] = 1;
      evidence[k] -= share;
    } else if (from_found_alone) {
      continue;
    }
    best.push({evidence[k], -static_cast<std::int64_t>(k)});
  }
  for (; placed < tokens && !best.empty(); ++placed) {
    auto [left, id] = best.top();
    best.pop();
    count[static_cast<std::size_t>(-id)] += 1;
    best.push({left - share, id});
  }
  WordRecovery result;
  result.rule = std::move(rule);
  for (std::size_t k = 0; k < count.size(); ++k)
    if (count[k] > 0) result.words.push_back({static_cast<Token>(k), count[k], -score[k]});
  std::ranges::stable_sort(result.words, {}, &RecoveredWord::score);
  return result;
}

std::string known(std::int64_t tokens) {
  return tokens > 0 ? fmt::format("{} tokens in all", tokens) : "how many tokens is not known";
}

}  // namespace

std::int64_t longest_text(const Observation& observation) {
  const auto name = observation.before->parameter_of(Role::position_embedding);
  if (!name || !observation.update.tensors.contains(*name)) return 0;
  const at::Tensor norms = summed_gradient(observation, *name).norm(2, 1);
  const at::Tensor read = (norms > norms.max() * 1e-6).nonzero();
  if (read.numel() == 0) return 0;
  const std::int64_t places = read.max().item<std::int64_t>() + 1;
  // The last token that a causal model reads predicts nothing, and its place does not move.
  const auto soft = observation.before->soft_model();
  return soft && soft->causal() ? std::min(norms.size(0), places + 1) : places;
}

std::int64_t tokens_of(const Observation& observation, const BagOptions& options) {
  if (options.tokens > 0) return options.tokens;
  return observation.update.protocol.count * longest_text(observation);
}

WordRecovery recover_bag_by_bias(const Observation& observation, const BagOptions& options) {
  std::vector<double> evidence = output_bias_scores(observation);
  const std::vector<double> norms = embedding_row_norms(observation);
  std::vector<char> found =
      norms.empty() ? std::vector<char>(evidence.size(), 0) : moved_rows(observation, norms, options.cutoff);
  for (std::size_t k = 0; k < evidence.size(); ++k) {
    evidence[k] = -evidence[k];
    found[k] |= evidence[k] > 0;
  }
  const std::int64_t tokens = tokens_of(observation, options);
  return share_out(std::move(evidence), found, tokens, false,
                   fmt::format("negative output bias{}, {} (decepticons, algorithm 2)",
                               norms.empty() ? "" : " or embedding rows that moved", known(tokens)));
}

WordRecovery recover_bag_by_rows(const Observation& observation, const BagOptions& options) {
  std::vector<double> norms = embedding_row_norms(observation);
  if (norms.empty()) return {.words = {}, .rule = "none: the update does not hold the token embedding"};
  const std::vector<char> found = moved_rows(observation, norms, options.cutoff);
  const std::int64_t tokens = tokens_of(observation, options);
  return share_out(std::move(norms), found, tokens, true,
                   fmt::format("embedding rows that {}, {} (decepticons, algorithm 3)",
                               tied(*observation.before) ? "stand out" : "moved", known(tokens)));
}

WordRecovery recover_bag(const Observation& observation, const BagOptions& options) {
  const auto bias = observation.before->parameter_of(Role::output_bias);
  return bias && observation.update.tensors.contains(*bias) ? recover_bag_by_bias(observation, options)
                                                            : recover_bag_by_rows(observation, options);
}

}  // namespace undertext
