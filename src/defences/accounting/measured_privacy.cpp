#include "defences/accounting/measured_privacy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/incomplete_beta.h"
#include "base/threads.h"

namespace undertext {
namespace {

// The p at which I_p(a, b), which rises with p, is `level`.
double beta_quantile(double a, double b, double level) {
  double low = 0, high = 1;
  for (int i = 0; i < 200 && high - low > 1e-16; ++i) {
    const double middle = (low + high) / 2;
    (incomplete_beta(a, b, middle) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

double log_ratio(double right, double wrong, double delta) {
  return right > delta && wrong > 0 ? std::log((right - delta) / wrong) : 0;
}

}  // namespace

ShareBounds clopper_pearson(std::int64_t hits, std::int64_t trials, double confidence) {
  UNDERTEXT_CHECK(hits >= 0 && hits <= trials && trials > 0 && confidence > 0 && confidence < 1);
  const double tail = (1 - confidence) / 2, k = static_cast<double>(hits), n = static_cast<double>(trials);
  ShareBounds bounds;
  if (hits > 0) bounds.low = beta_quantile(k, n - k + 1, tail);
  if (hits < trials) bounds.high = beta_quantile(k + 1, n - k, 1 - tail);
  return bounds;
}

double epsilon_lower_bound(const MembershipGuesses& guesses, double delta, double confidence) {
  const ShareBounds there = clopper_pearson(guesses.true_positives, guesses.with, confidence);
  const ShareBounds alarm = clopper_pearson(guesses.false_positives, guesses.without, confidence);
  return std::max(
      {0.0, log_ratio(there.low, alarm.high, delta), log_ratio(1 - alarm.high, 1 - there.low, delta)});
}

PrivacyAudit audit_privacy(const CanaryStatistic& statistic, std::int64_t trials, double delta,
                           double confidence, Seed seed) {
  if (trials < 4) fail("a privacy audit of {} runs, expected at least 4", trials);
  const auto n = static_cast<std::size_t>(trials);
  std::vector<double> with(n), without(n);
  parallel_for(2 * trials, [&](std::int64_t i) {
    const bool there = i < trials;
    const std::int64_t run = there ? i : i - trials;
    const Seed own = seed.derive(there ? "with" : "without").derive(static_cast<std::uint64_t>(run));
    (there ? with : without)[static_cast<std::size_t>(run)] = statistic(there, own);
  });
  const auto guessed = [&](double threshold, std::size_t first, std::size_t last) {
    const auto above = [&](const std::vector<double>& values) {
      return std::count_if(values.begin() + static_cast<std::ptrdiff_t>(first),
                           values.begin() + static_cast<std::ptrdiff_t>(last),
                           [&](double value) { return value >= threshold; });
    };
    const auto runs = static_cast<std::int64_t>(last - first);
    return MembershipGuesses{above(with), runs, above(without), runs};
  };
  const std::size_t half = n / 2;
  PrivacyAudit audit;
  double best = -1;
  for (const std::vector<double>* values : {&with, &without})
    for (std::size_t i = 0; i < half; ++i)
      if (const double bound = epsilon_lower_bound(guessed((*values)[i], 0, half), delta, confidence);
          bound > best) {
        best = bound;
        audit.threshold = (*values)[i];
      }
  audit.guesses = guessed(audit.threshold, half, n);
  audit.lower_bound = epsilon_lower_bound(audit.guesses, delta, confidence);
  return audit;
}

std::int64_t rank_among(double canary_loss, std::span<const double> reference_losses) {
  return 1 + std::ranges::count_if(reference_losses, [&](double loss) { return loss < canary_loss; });
}

}  // namespace undertext
