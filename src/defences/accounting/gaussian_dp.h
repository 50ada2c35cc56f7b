// Gaussian differential privacy (Dong, Roth and Su, 2022): how hard it is to tell a data set from its
// neighbour, as a test between N(0, 1) and N(mu, 1).
#pragma once

#include <span>

#include "defences/accounting/noisy_steps.h"

namespace undertext {

// mu of the composition. Exact where all units are in every step; for sampled ones the limit of many steps
// (Bu et al., 2020, corollary 4), which is an approximation and may lie below the truth.
double gaussian_mu(std::span<const NoisySteps> composition);
bool gaussian_mu_exact(std::span<const NoisySteps> composition);

// delta(epsilon) of mu (Dong, Roth and Su, corollary 2.13), and the epsilon at which it is delta.
double gaussian_delta(double mu, double epsilon);
double gaussian_epsilon(double mu, double delta);

}  // namespace undertext
