// What differentially private training is worth: epsilon of a number of noisy steps.
#pragma once

#include <cstdint>

namespace undertext {

struct PrivateSteps {
  double sigma = 1;        // noise per step over the norm to which a sentence's gradient is cut
  double share = 1;        // of the sentences in a step: batch over all
  std::int64_t steps = 1;  // in all
  double delta = 1e-5;
};

// Renyi divergences of the sampled Gaussian mechanism at whole orders (Mironov, Talwar and Zhang, 2019,
// section 3.3), added up over the steps and turned into epsilon at delta (Mironov, 2017, proposition 3), the
// least over the orders. It assumes that each step draws its sentences at random and independently; batches
// of a shuffled order, which training takes, are commonly accounted for in this way too. Infinite without
// noise.
double epsilon_of(const PrivateSteps& steps);

}  // namespace undertext
