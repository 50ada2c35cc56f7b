// Renyi differential privacy of noisy steps: a bound for each order, which adds up over steps and is turned
// into (epsilon, delta) at the end.
#pragma once

#include <span>
#include <vector>

#include "defences/accounting/noisy_steps.h"

namespace undertext {

// 1.1 to 10.9 by tenths, 12 to 63, and some larger ones for the smallest epsilons.
const std::vector<double>& renyi_orders();

// The Renyi divergence of one step at an order above 1 (Mironov, Talwar and Zhang, 2019: section 3.3; whole
// orders by the binomial sum, others by its two series). Infinite without noise.
double renyi_of_step(double sigma, double rate, double order);
// Of a tree of noisy sums (Kairouz et al., 2021, theorem 4.1): each unit is in one leaf, and so in as many
// nodes as lie on the way to the root of a tree of `leaves`, for each of `trees` that begin anew.
double renyi_of_tree(double sigma, std::int64_t leaves, std::int64_t trees, double order);

// One divergence for each order.
std::vector<double> renyi_of(std::span<const NoisySteps> composition, std::span<const double> orders);

struct RenyiEpsilon {
  double epsilon = 0;
  double order = 0;  // the one that gives it
};
// The least epsilon at delta over the orders, by the tight conversion (Canonne, Kamath and Steinke, 2020,
// proposition 12).
RenyiEpsilon epsilon_from_renyi(std::span<const double> orders, std::span<const double> divergences,
                                double delta);

double renyi_epsilon(std::span<const NoisySteps> composition, double delta);

}  // namespace undertext
