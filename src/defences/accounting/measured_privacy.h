// Privacy as it is measured, from below: an adversary guesses from what a mechanism gives whether a canary
// was among the data. Guesses that are too good disprove a claim (Jagielski et al., 2020; Nasr et al., 2021).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/random.h"

namespace undertext {

// The bounds of a share of which `hits` of `trials` were seen (Clopper and Pearson, 1934): the truth lies
// between them with this confidence at least.
struct ShareBounds {
  double low = 0, high = 1;
};
ShareBounds clopper_pearson(std::int64_t hits, std::int64_t trials, double confidence);

struct MembershipGuesses {
  std::int64_t true_positives = 0, with = 0;      // "it was there", right, of so many runs with the canary
  std::int64_t false_positives = 0, without = 0;  // "it was there", wrong, of so many runs without
};

// The largest epsilon that the guesses disprove at delta: (epsilon, delta)-privacy bounds the share of right
// guesses by e^epsilon times that of false alarms, and delta, and the same of the guesses "it was not there".
// 0 where they disprove nothing.
double epsilon_lower_bound(const MembershipGuesses& guesses, double delta, double confidence);

struct PrivacyAudit {
  MembershipGuesses guesses;
  double threshold = 0;    // of the statistic, from which on the guess is "it was there"
  double lower_bound = 0;  // on epsilon
};

// From one number of each run, the larger the likelier that the canary was there: the first half of the runs
// of each kind chooses the threshold, the other half measures, so that the bound holds whatever the choice.
// UserError for fewer than 4 of a kind.
PrivacyAudit audit_of(std::span<const double> with, std::span<const double> without, double delta,
                      double confidence);

// Runs a mechanism `trials` times with the canary and as often without, each on a seed of its own. statistic:
// what the adversary makes of one run.
using CanaryStatistic = std::function<double(bool with_canary, Seed seed)>;
PrivacyAudit audit_privacy(const CanaryStatistic& statistic, std::int64_t trials, double delta,
                           double confidence, Seed seed);

// The Secret Sharer's rank of a canary (Carlini et al., 2019, definition 4): 1 and the number of reference
// texts that the model finds likelier. losses: the smaller, the likelier.
std::int64_t rank_among(double canary_loss, std::span<const double> reference_losses);
// Their definition 5, in bits: how much less there is to guess than among all references. 0 for the last.
double exposure_of(std::int64_t rank, std::int64_t references);

}  // namespace undertext
