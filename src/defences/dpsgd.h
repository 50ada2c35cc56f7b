// Differentially private training (Abadi et al., 2016, algorithm 1; film, section 6.3).
#pragma once

#include "base/random.h"
#include "defences/accounting/noisy_steps.h"
#include "federated/defence.h"

namespace undertext {

// In every step each sentence's gradient is cut down to a norm of `clip`, and Gaussian noise of deviation
// sigma * clip is added to their sum: what is private is a sentence. What that is worth over a training says
// epsilon_of() of accounting/accountant.h.
class DpSgd : public ClientDefence {
 public:
  // UserError unless clip is a positive number and sigma one of at least 0.
  DpSgd(double clip, double sigma, Seed seed);
  double sentence_bound() const override { return clip_; }
  void on_sum(NamedTensors& sum, std::int64_t step) const override;
  void tell(KnownDefence& known, double texts) const override;

 private:
  double clip_;
  float deviation_;
  Seed seed_;
};

// A training on so many texts as an accountant sees it, where every step draws them (Sampling::poisson).
NoisySteps dpsgd_steps(double sigma, std::int64_t texts, std::int64_t batch, std::int64_t epochs);

}  // namespace undertext
