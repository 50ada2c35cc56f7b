#include "audit/oracle.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"

namespace undertext {

WordRecovery recover_words_by_oracle(const Observation& observation, std::span<const Sentence> truth,
                                     std::int64_t longest) {
  const auto name = observation.before->parameter_of(Role::output_bias);
  if (!name) fail("the model has no output bias, which the cutoff needs");
  const at::Tensor moved = observation.before->parameters().at(*name).to(at::kDouble) -
                           observation.after->parameters().at(*name).to(at::kDouble);  // (V)
  const double* score = moved.data_ptr<double>();
  std::vector<Token> order(static_cast<std::size_t>(moved.numel()));
  std::iota(order.begin(), order.end(), Token{0});
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) { return score[a] < score[b]; });

  std::set<Token> typed;
  for (const Sentence& sentence : truth) typed.insert(sentence.begin(), sentence.end());
  const std::size_t most =
      std::min(order.size(), static_cast<std::size_t>(std::max<std::int64_t>(longest, 0)));
  std::size_t hits = 0, best = 0;
  double best_f1 = 0;
  for (std::size_t i = 0; i < most; ++i) {
    hits += typed.contains(order[i]);
    const double f1 = 2.0 * static_cast<double>(hits) / static_cast<double>(i + 1 + typed.size());
    if (f1 > best_f1) {
      best_f1 = f1;
      best = i + 1;
    }
  }
  WordRecovery recovery;
  recovery.rule = "oracle: the cutoff with the best F1 against the truth, which no adversary has";
  for (std::size_t i = 0; i < best; ++i)
    recovery.words.push_back({.id = order[i], .count = 1, .score = score[order[i]]});
  return recovery;
}

}  // namespace undertext
