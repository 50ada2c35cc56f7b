#include "defences/accounting/accountant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "defences/accounting/gaussian_dp.h"
#include "defences/accounting/privacy_loss.h"
#include "defences/accounting/renyi.h"

namespace undertext {
namespace {

constexpr double kMostNoise = 1e6;

std::string description_of(Accountant accountant, bool approximate) {
  switch (accountant) {
    case Accountant::renyi:
      return "Renyi divergences of the sampled Gaussian mechanism, tight conversion";
    case Accountant::prv:
      return "numerical composition of the privacy loss (PRV), an upper bound";
    case Accountant::gaussian:
      return approximate ? "Gaussian differential privacy by its central limit theorem, an approximation"
                         : "Gaussian differential privacy, exact";
  }
  UNDERTEXT_CHECK(false);
  return {};
}

}  // namespace

const char* name_of(Accountant accountant) {
  switch (accountant) {
    case Accountant::renyi:
      return "renyi";
    case Accountant::prv:
      return "prv";
    case Accountant::gaussian:
      return "gaussian";
  }
  return "";
}

Accountant accountant_named(std::string_view name) {
  for (const Accountant accountant : {Accountant::renyi, Accountant::prv, Accountant::gaussian})
    if (name == name_of(accountant)) return accountant;
  fail("accountant: {} given, expected prv, renyi or gaussian", quote(std::string(name)));
}

double epsilon_of(std::span<const NoisySteps> composition, double delta, Accountant accountant) {
  switch (accountant) {
    case Accountant::renyi:
      return renyi_epsilon(composition, delta);
    case Accountant::prv:
      return privacy_loss_epsilon(composition, delta);
    case Accountant::gaussian:
      return gaussian_epsilon(gaussian_mu(composition), delta);
  }
  UNDERTEXT_CHECK(false);
  return 0;
}

double noise_for(double epsilon, double rate, std::int64_t steps, double delta, Accountant accountant) {
  if (!(epsilon > 0)) fail("epsilon: {} given, expected a positive number", epsilon);
  const auto spent = [&](double sigma) {
    const NoisySteps part{sigma, rate, steps};
    // As fine as four digits need it, and never below.
    return accountant == Accountant::prv ? privacy_loss_epsilon({&part, 1}, delta, {}, 1e-4)
                                         : epsilon_of({&part, 1}, delta, accountant);
  };
  if (steps == 0) return 0;
  struct End {
    double sigma, spent;
  };
  // The numerical bound is never above Renyi's, which is found faster, and not far below.
  const bool numerical = accountant == Accountant::prv;
  const double start = numerical ? noise_for(epsilon, rate, steps, delta, Accountant::renyi) : 1;
  End high{start, spent(start)}, low = high;
  while (high.spent > epsilon) {
    low = high;
    high.sigma *= 2;
    if (high.sigma > kMostNoise)
      fail("epsilon {}: no noise multiplier up to {} keeps {} steps within it", epsilon, kMostNoise, steps);
    high.spent = spent(high.sigma);
  }
  while (low.spent <= epsilon) {
    high = low;
    low.sigma *= numerical ? 0.9 : 0.5;
    low.spent = spent(low.sigma);
  }
  // Epsilon falls nearly as a power of the noise: on a double logarithmic scale a line through the ends of
  // the bracket meets the promise almost at once. Where it does not narrow the bracket, its middle does.
  const auto put = [&](double sigma) {
    const End end{sigma, spent(sigma)};
    (end.spent > epsilon ? low : high) = end;
  };
  constexpr double kDigits = 1e-4;
  while (high.sigma - low.sigma > kDigits * high.sigma) {
    const double before = high.sigma - low.sigma;
    if (std::isfinite(low.spent) && high.spent > 0) {
      const double slope = std::log(low.spent / high.spent) / std::log(high.sigma / low.sigma);
      const double guess = low.sigma * std::pow(low.spent / epsilon, 1 / slope);
      for (const double side : {1 + kDigits / 3, 1 - kDigits / 3})
        if (const double sigma = guess * side; sigma > low.sigma && sigma < high.sigma) put(sigma);
    }
    if (high.sigma - low.sigma > before / 2 && high.sigma - low.sigma > kDigits * high.sigma)
      put((low.sigma + high.sigma) / 2);
  }
  return high.sigma;
}

std::string statement_of(const PrivacyClaim& claim, std::span<const NoisySteps> composition) {
  std::string text = std::isfinite(claim.epsilon)
                         ? fmt::format("({:.4g}, {:.3g})-differential privacy.\n", claim.epsilon, claim.delta)
                         : "no differential privacy: epsilon is infinite.\n";
  text += fmt::format("unit of privacy:  one {}\n", claim.unit);
  if (const auto& trees = claim.trees) {
    text += fmt::format(
        "neighbours:       data sets of which one has nothing in place of one {}\n"
        "mechanism:        sums over {} {} of {} leaves, Gaussian noise of multiplier {:.4g} on each node\n"
        "sampling:         none is assumed: each {} is in one leaf of each tree at most, as an order that "
        "was "
        "fixed before has it\n",
        claim.unit, trees->trees, trees->trees == 1 ? "tree" : "trees", trees->leaves, trees->sigma,
        claim.unit);
    return text + fmt::format("accountant:       {}\n", description_of(claim.accountant, claim.approximate));
  }
  text += fmt::format("neighbours:       data sets that differ by adding or removing one {}\n", claim.unit);
  bool sampled = false;
  for (const NoisySteps& part : composition) {
    text +=
        fmt::format("mechanism:        Gaussian noise of multiplier {:.4g}, {} steps, sampling rate {:.4g}\n",
                    part.sigma, part.steps, part.rate);
    sampled = sampled || part.rate < 1;
  }
  text += sampled
              ? fmt::format(
                    "sampling:         each {} is in each step with that chance, independently (Poisson); "
                    "shuffled batches are not covered\n",
                    claim.unit)
              : fmt::format("sampling:         none: every {} is in every step\n", claim.unit);
  return text + fmt::format("accountant:       {}\n", description_of(claim.accountant, claim.approximate));
}

}  // namespace undertext
