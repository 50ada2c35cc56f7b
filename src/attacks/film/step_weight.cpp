#include "attacks/film/step_weight.h"

#include <algorithm>
#include <cmath>

#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kStandsOut = 8;                     // deviations
constexpr double kSpread = 1.5, kSpreadOfOne = 1.3;  // how far a step may be from what one would guess

}  // namespace

double weight_of_one(const std::vector<ScoredStep>& steps) {
  std::vector<std::pair<double, double>> found;  // deviations, weight
  for (const ScoredStep& step : steps) {
    const double deviations = step.response / std::sqrt(step.energy + 1e-30);
    if (deviations > kStandsOut) found.push_back({deviations, step.response / step.energy});
  }
  if (found.empty()) return 0;
  std::ranges::sort(found, std::greater<>());
  std::vector<double> weight;
  for (const auto& [deviations, value] : found)
    if (deviations > 0.6 * found.front().first) weight.push_back(value);
  // Wrong first tokens of right steps respond too, but by less.
  return quantile(std::move(weight), 0.9);
}

double StepWeight::first(const std::vector<ScoredStep>& steps) const {
  return known() ? known_ : plausible(weight_of_one(steps));
}

double StepWeight::of_texts(std::span<const double> weight, double guess) const {
  constexpr double kLeast = 0.6, kMost = 1.8;
  if (known()) return known_;
  std::vector<double> near;
  for (const double value : weight)
    if (value > kLeast * guess && value < kMost * guess) near.push_back(value);
  return plausible(near.empty() ? guess : quantile(std::move(near), 0.5));
}

// Of a mean one step weighs one over the number of steps, and texts are about half as long as the longest.
double StepWeight::plausible(double weight) const {
  if (weight == 0 || batch_ == 0 || longest_ == 0) return weight;
  const double about = 2 / static_cast<double>(batch_ * longest_);
  const double spread = std::max(kSpread, 1 + kSpreadOfOne / std::sqrt(static_cast<double>(batch_)));
  return std::clamp(weight, about / spread, about * spread);
}

}  // namespace undertext
