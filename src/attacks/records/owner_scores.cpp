#include "attacks/records/owner_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

// x - log sum exp x.
void normalise(std::vector<double>& x) {
  const double most = *std::ranges::max_element(x);
  double sum = 0;
  for (const double one : x) sum += std::exp(one - most);
  const double total = most + std::log(sum);
  for (double& one : x) one -= total;
}

}  // namespace

OwnerScores::OwnerScores(std::span<const std::shared_ptr<const LanguageModel>> snapshots,
                         const TokenPattern& pattern, const Sentence& context,
                         const PartRegression& regression, std::int64_t client, const OwnerWeights& weights)
    : pattern_(pattern),
      regression_(regression),
      client_(client),
      weights_(weights),
      level_weight_(snapshots.size(), 0.0),
      readers_(snapshots.size()) {
  UNDERTEXT_CHECK(std::ssize(snapshots) == regression.rounds() + 1);
  parallel_for(std::ssize(snapshots), [&](std::int64_t t) {
    const auto at = static_cast<std::size_t>(t);
    readers_[at] = std::make_unique<PatternReader>(snapshots[at], pattern, context);
  });
  double sum = 0;
  for (std::size_t t = 1; t < level_weight_.size(); ++t) {  // the first began with nobody's part
    const auto ago = static_cast<double>(level_weight_.size() - 1 - t);
    sum += level_weight_[t] = std::exp2(-ago / weights.level_half_life);
  }
  for (double& weight : level_weight_) weight /= sum;
}

StateId OwnerScores::extend(std::span<const StateId> states, std::span<const Token> tokens) {
  std::vector<StateId> first(readers_.size());
  parallel_for(std::ssize(readers_), [&](std::int64_t t) {
    first[static_cast<std::size_t>(t)] = readers_[static_cast<std::size_t>(t)]->extend(states, tokens);
  });
  return first.front();
}

Matrix<float> OwnerScores::scores(StateId first, std::span<const std::int32_t> places) {
  std::vector<Matrix<float>> log_probability(readers_.size());  // (places, alphabet) of each snapshot
  parallel_for(std::ssize(readers_), [&](std::int64_t t) {
    log_probability[static_cast<std::size_t>(t)] =
        readers_[static_cast<std::size_t>(t)]->log_probabilities(first, std::ssize(places));
  });
  Matrix<float> result(std::ssize(places), std::ssize(pattern_.alphabet()));
  parallel_for(std::ssize(places), [&](std::int64_t row) {
    const auto& edges =
        pattern_.states()[static_cast<std::size_t>(places[static_cast<std::size_t>(row)])].edges;
    if (edges.size() < 2) return;  // what is forced is certain
    Matrix<double> series(std::ssize(edges), std::ssize(readers_));
    std::vector<double> x(edges.size());
    for (std::size_t t = 0; t < readers_.size(); ++t) {
      for (std::size_t e = 0; e < edges.size(); ++e) x[e] = log_probability[t].row(row)[edges[e].slot];
      normalise(x);
      for (std::size_t e = 0; e < edges.size(); ++e)
        series(static_cast<std::int64_t>(e), static_cast<std::int64_t>(t)) = std::max(x[e], weights_.floor);
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const std::span<const double> own(series.row(static_cast<std::int64_t>(e)), readers_.size());
      const double level = std::inner_product(own.begin(), own.end(), level_weight_.begin(), 0.0);
      x[e] = weights_.level * level + weights_.effect * regression_.effect(own, client_);
    }
    normalise(x);
    for (std::size_t e = 0; e < edges.size(); ++e) result(row, edges[e].slot) = static_cast<float>(x[e]);
  });
  return result;
}

void OwnerScores::keep(std::span<const StateId> states) {
  parallel_for(std::ssize(readers_),
               [&](std::int64_t t) { readers_[static_cast<std::size_t>(t)]->keep(states); });
}

}  // namespace undertext
