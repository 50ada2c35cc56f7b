// How likely each token of a pattern is to stand next in one client's record, by all snapshots together.
//
// After a prefix, each snapshot t gives the tokens that the pattern allows there log-probabilities x_t (among
// themselves: what rounds do to the format of records cancels). A client's record is what its part in a round
// makes likelier. So the score of a token is
//   w_l level + w_a a,   level: the mean of x_t over the last rounds,  a: the client's effect on x_t in
// PartRegression; softmax over the allowed tokens makes them probabilities, and their product along a text
// the chance that the text is the client's record. The two weights make it one: they were chosen for the
// likelihood of the true records of simulated federations.
//
// Near-copies of other clients' records fall away by themselves: in the place where two records part, the
// common token of the others is likely in all rounds but does not rise with this client's part.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attacks/records/part_regression.h"
#include "attacks/records/pattern_reader.h"

namespace undertext {

struct OwnerWeights {
  double level = 1.85;
  double effect = 10;
  double level_half_life = 1.5;  // rounds
  double floor = -8;             // of x_t: how unlikely a token is that is unlikely says little
};

class OwnerScores : public TokenScores {
 public:
  // snapshots: the models that the regression's rounds began with and led to, rounds + 1 of them. The pattern
  // and the regression must outlive it.
  OwnerScores(std::span<const std::shared_ptr<const LanguageModel>> snapshots, const TokenPattern& pattern,
              const Sentence& context, const PartRegression& regression, std::int64_t client,
              const OwnerWeights& weights = {});

  StateId begin() const override { return readers_.front()->begin(); }
  StateId extend(std::span<const StateId> states, std::span<const Token> tokens) override;
  Matrix<float> scores(StateId first, std::span<const std::int32_t> places) override;
  void keep(std::span<const StateId> states) override;
  std::int64_t states() const override { return readers_.front()->states(); }

 private:
  const TokenPattern& pattern_;
  const PartRegression& regression_;
  std::int64_t client_;
  OwnerWeights weights_;
  std::vector<double> level_weight_;  // of each snapshot
  std::vector<std::unique_ptr<PatternReader>> readers_;
};

}  // namespace undertext
