#include "defences/dp_fed_avg.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"

namespace undertext {

DpFedAvg::DpFedAvg(const DpFedAvgOptions& options, std::int64_t round, Seed seed)
    : options_(options),
      seed_(seed.derive("dp-fedavg").derive(static_cast<std::uint64_t>(round))),
      sum_(options.clip) {
  if (!(options.sigma >= 0) || !(options.sigma * options.clip < 1e18))
    fail("dp-fedavg: noise of {} times the norm, expected a number of at least 0", options.sigma);
  if (!(options.clients > 0) || !std::isfinite(options.clients))
    fail("dp-fedavg: {} clients a round, expected a positive number", options.clients);
}

void DpFedAvg::add(const NamedTensors& weights, std::int64_t) {
  sum_.add(weights);
}

NamedTensors DpFedAvg::mean() {
  const auto deviation = static_cast<float>(options_.sigma * options_.clip);
  for (auto& [name, sum] : sum_.sum()) {
    if (deviation == 0) break;
    const at::Tensor noise = at::zeros(sum.sizes(), at::kFloat);
    add_normal_noise(seed_.derive(name), deviation, noise.data_ptr<float>(), noise.numel());
    sum.add_(noise);
  }
  return sum_.model(options_.clients);
}

NoisySteps dp_fed_avg_steps(double sigma, const Selection& selection, std::int64_t clients,
                            std::int64_t rounds) {
  const bool all = selection.rule != SelectionRule::scheduled && selection.per_round == clients;
  if (!all && selection.rule != SelectionRule::poisson)
    fail(
        "dp-fedavg: clients are chosen by \"{}\", expected \"poisson\", each on its own, or all of them in "
        "every round: for another choice its epsilon is not known",
        name_of(selection.rule));
  return {sigma, static_cast<double>(selection.per_round) / static_cast<double>(clients), rounds};
}

}  // namespace undertext
