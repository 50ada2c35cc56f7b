// User-level differential privacy on the server (McMahan et al., 2018, "DP-FedAvg", algorithm 1): what is
// hidden is whether a user took part at all, with all of its texts. Whoever does the averaging is trusted.
#pragma once

#include "base/random.h"
#include "defences/accounting/noisy_steps.h"
#include "defences/clipped_sum.h"
#include "federated/fed_avg.h"
#include "federated/selection.h"

namespace undertext {

struct DpFedAvgOptions {
  double clip = 1;     // S: the largest norm of one client's update
  double sigma = 1;    // z: deviation of the noise on the sum, over S
  double clients = 1;  // q N: how many take part in a round on average; the sum is divided by it
};

// w + (sum of clipped updates + N(0, (z S)^2)) / (q N): all clients count the same, whatever their data's
// size. A round without clients still gets its noise.
class DpFedAvg : public Averaging {
 public:
  // seed: the federation's; every round's noise is derived from it by its number. UserError for options that
  // make no sense.
  DpFedAvg(const DpFedAvgOptions& options, std::int64_t round, Seed seed);
  void start(const NamedTensors& global) override { sum_.start(global); }
  void add(const NamedTensors& weights, std::int64_t size) override;
  NamedTensors mean() override;

 private:
  DpFedAvgOptions options_;
  Seed seed_;
  ClippedSum sum_;
};

// So many rounds as an accountant sees them. UserError unless each client is drawn on its own (poisson) or
// all of them are asked in every round: for other choices the figure would not hold.
NoisySteps dp_fed_avg_steps(double sigma, const Selection& selection, std::int64_t clients,
                            std::int64_t rounds);

}  // namespace undertext
