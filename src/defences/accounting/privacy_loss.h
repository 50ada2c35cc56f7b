// The privacy loss of noisy steps, composed numerically (Koskela et al., 2020; Gopi et al., 2021, PRV):
// tighter than Renyi's bounds, and still a bound.
#pragma once

#include <span>

#include "defences/accounting/noisy_steps.h"

namespace undertext {

// What some accountants add to their figure for errors of their grid. Ours needs none: its grid only errs
// upwards. Given here to compare with theirs.
struct GridAllowance {
  double epsilon = 0;      // added to epsilon
  double delta_share = 0;  // share of delta that is kept back
};
inline constexpr GridAllowance kOpacusAllowance{0.01, 1e-3};

// The least epsilon at delta that this accounting proves, for adding and for removing a unit, whichever is
// the worse. The loss of one step is put on a grid so that its curve delta(epsilon) is met at the grid's
// points and lies above the true one between them (Doroshenko et al., 2022, "connect the dots"); steps are
// composed by Fourier transforms; what falls off the grid's upper end counts as lost. Infinite without noise.
// roughness: about what the grid may add to epsilon, as a share of it (of 1 below 1); a finer one is slower.
double privacy_loss_epsilon(std::span<const NoisySteps> composition, double delta,
                            const GridAllowance& allowance = {}, double roughness = 1e-5);

}  // namespace undertext
