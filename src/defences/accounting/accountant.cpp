#include "defences/accounting/accountant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
      return "rdp";
    case Accountant::prv:
      return "prv";
    case Accountant::gaussian:
      return "gdp";
  }
  return "";
}

Accountant accountant_named(std::string_view name) {
  for (const Accountant accountant : {Accountant::renyi, Accountant::prv, Accountant::gaussian})
    if (name == name_of(accountant)) return accountant;
  fail("accountant: {} given, expected rdp, prv or gdp", quote(std::string(name)));
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
    return epsilon_of({&part, 1}, delta, accountant);
  };
  double low = 0, high = 1;
  while (spent(high) > epsilon) {
    low = high;
    high *= 2;
    if (high > kMostNoise)
      fail("epsilon {}: no noise multiplier up to {} keeps {} steps within it", epsilon, kMostNoise, steps);
  }
  while (high - low > 1e-4 * high) {
    const double middle = (low + high) / 2;
    (spent(middle) > epsilon ? low : high) = middle;
  }
  return high;
}

std::string statement_of(const PrivacyClaim& claim, std::span<const NoisySteps> composition) {
  std::string text = fmt::format(
      "({:.4g}, {:.3g})-differential privacy.\n"
      "unit of privacy:  one {}\n"
      "neighbours:       data sets that differ by adding or removing one {}\n",
      claim.epsilon, claim.delta, claim.unit, claim.unit);
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
