// What a training really hides, measured: it is run many times with a canary among its texts and as often
// without, and an adversary who knows the model, all other texts and what was sent guesses which it was
// (Jagielski et al., 2020; Nasr et al., 2021). Guesses that are too good refute what is claimed.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "defences/accounting/measured_privacy.h"
#include "federated/local_training.h"
#include "models/language_model.h"

namespace undertext {

struct CanaryAuditOptions {
  LocalTraining training;  // its seed is not used: each run has one of its own
  // What the client does against leaks in one run.
  std::function<std::vector<std::shared_ptr<const ClientDefence>>(Seed seed)> defences = {};
  std::int64_t trials = 200;  // with the canary, and as many without
  double delta = 1e-5;
  double confidence = 0.99;       // of all bounds together
  std::int64_t references = 255;  // texts that the canary is ranked among; 0: none
  Seed seed{1};
};

struct CanaryAudit {
  // What the adversary looks at: how much likelier the canary became, and how far the weights went against
  // the canary's own gradient.
  PrivacyAudit by_loss, by_gradient;
  double lower_bound = 0;  // the larger one, on epsilon
  // Bits, on average over the runs: with the canary and without it.
  double exposure_with = 0, exposure_without = 0;
};

// A text of so many words, each as likely as any other; special tokens left out.
Sentence random_canary(const Tokenizer& tokenizer, std::int64_t words, Seed seed);

// Without the canary there is a text of no words in its place, so that every other is drawn with the same
// chance. UserError for options that make no sense and for a canary that the model cannot read.
CanaryAudit audit_canary(const LanguageModel& model, const Tokenizer& tokenizer,
                         std::span<const Sentence> texts, const Sentence& canary,
                         const CanaryAuditOptions& options);

}  // namespace undertext
