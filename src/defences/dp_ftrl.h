// DP-FTRL (Kairouz et al., 2021, algorithm 1 without momentum): user-level privacy without any assumption on
// how clients are sampled. The global model is the first one and the sum of all clipped updates so far, and
// the noise in that sum is a tree's, which grows with the logarithm of the rounds.
#pragma once

#include <vector>

#include "base/random.h"
#include "defences/accounting/noisy_steps.h"
#include "defences/clipped_sum.h"
#include "defences/tree_noise.h"
#include "federated/fed_avg.h"
#include "federated/selection.h"

namespace undertext {

// Which rounds share a tree: nobody takes part twice in one. A tree's noise stays in the model when the next
// one begins.
struct TreePlan {
  std::vector<std::int64_t> leaves;  // rounds of each tree, in order

  struct Place {
    std::int64_t tree = 0, leaf = 1;
  };
  Place place_of(std::int64_t round) const;  // from 1 on
};

// A new tree begins where a client would come again. More rounds only add to the plan. UserError where
// clients are drawn at random: how often one comes into a tree is then not known before.
TreePlan tree_plan(const Selection& selection, std::int64_t clients, std::int64_t rounds);

struct DpFtrlOptions {
  double clip = 1;     // the largest norm of one client's update
  double sigma = 1;    // deviation of each node's noise, over clip
  double clients = 1;  // in a round: what the sum is divided by
};

class DpFtrl : public Averaging {
 public:
  // seed: the federation's. UserError for options that make no sense.
  DpFtrl(const DpFtrlOptions& options, const TreePlan& plan, std::int64_t round, Seed seed);
  void start(const NamedTensors& global) override { sum_.start(global); }
  void add(const NamedTensors& weights, std::int64_t size) override;
  NamedTensors mean() override;

 private:
  DpFtrlOptions options_;
  TreePlan::Place place_;
  TreeNoise noise_;
  ClippedSum sum_;
};

// The trees as an accountant sees them: each client is in one leaf of each, and so in as many noisy nodes as
// lie above it (renyi_of_tree gives the same).
Composition dp_ftrl_steps(double sigma, const TreePlan& plan);

}  // namespace undertext
