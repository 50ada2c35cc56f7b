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

PrivacyAudit audit_of(std::span<const double> with, std::span<const double> without, double delta,
                      double confidence) {
  if (with.size() < 4 || without.size() < 4)
    fail("a privacy audit of {} runs, expected at least 4", std::min(with.size(), without.size()));
  struct Part {
    std::span<const double> with, without;
  };
  const Part first{with.first(with.size() / 2), without.first(without.size() / 2)},
      second{with.subspan(with.size() / 2), without.subspan(without.size() / 2)};
  const auto guessed = [](const Part& part, double threshold) {
    const auto above = [&](std::span<const double> values) {
      return std::ranges::count_if(values, [&](double value) { return value >= threshold; });
    };
    return MembershipGuesses{above(part.with), std::ssize(part.with), above(part.without),
                             std::ssize(part.without)};
  };
  PrivacyAudit audit;
  double best = -1;
  for (const std::span<const double> values : {first.with, first.without})
    for (const double threshold : values)
      if (const double bound = epsilon_lower_bound(guessed(first, threshold), delta, confidence);
          bound > best) {
        best = bound;
        audit.threshold = threshold;
      }
  audit.guesses = guessed(second, audit.threshold);
  audit.lower_bound = epsilon_lower_bound(audit.guesses, delta, confidence);
  return audit;
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
  return audit_of(with, without, delta, confidence);
}

std::int64_t rank_among(double canary_loss, std::span<const double> reference_losses) {
  return 1 + std::ranges::count_if(reference_losses, [&](double loss) { return loss < canary_loss; });
}

double exposure_of(std::int64_t rank, std::int64_t references) {
  UNDERTEXT_CHECK(rank >= 1 && references >= 1);
  return std::max(0.0, std::log2(static_cast<double>(references)) - std::log2(static_cast<double>(rank)));
}

}  // namespace undertext
