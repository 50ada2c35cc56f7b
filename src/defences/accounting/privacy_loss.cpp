#include "defences/accounting/privacy_loss.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "defences/accounting/renyi.h"

namespace undertext {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Probability that may fall off the grid, as a share of delta. It is added to delta's side of the account.
constexpr double kTail = 1e-6;
constexpr double kPointsPerDeviation = 128;  // of the loss of one step
// A step's loss is taken to lie between points beyond which both data sets put less than this. Above, it
// counts as lost; below, it is raised to the lowest point: both err upwards.
constexpr double kNothing = 1e-30;
constexpr std::int64_t kFewestPoints = 1 << 12, kMostPoints = 1 << 22;

enum class Neighbour { removed, added };

// Phi(b) - Phi(a) for a <= b, without cancelling in either tail.
double normal_between(double a, double b) {
  constexpr double r = 1 / std::numbers::sqrt2;
  if (a > 0) return 0.5 * (std::erfc(a * r) - std::erfc(b * r));
  if (b < 0) return 0.5 * (std::erfc(-b * r) - std::erfc(-a * r));
  return 1 - 0.5 * std::erfc(-a * r) - 0.5 * std::erfc(b * r);
}

// One step, seen at the noisy sum x with the unit's part as the unit of length: without the unit
// N(0, sigma^2), with it (1 - q) N(0, sigma^2) + q N(1, sigma^2).
class StepLoss {
 public:
  StepLoss(const NoisySteps& step, Neighbour neighbour)
      : sigma_(step.sigma), q_(step.rate), neighbour_(neighbour) {}

  // Probabilities that the loss lies in (a, b], under the data set that the loss is of (first) and under its
  // neighbour (second).
  std::pair<double, double> between(double a, double b) const {
    // Removed: the loss log(with / without) rises with x. Added: it is the same with the other sign.
    if (neighbour_ == Neighbour::removed) {
      const double from = place(a), to = place(b);
      return {with(from, to), without(from, to)};
    }
    const double from = place(-b), to = place(-a);
    return {without(from, to), with(from, to)};
  }

 private:
  // x at which log(with / without) is `loss`.
  double place(double loss) const {
    if (loss == kInfinity) return kInfinity;
    const double inner = std::expm1(loss) / q_;
    return inner <= -1 ? -kInfinity : sigma_ * sigma_ * std::log1p(inner) + 0.5;
  }
  double without(double from, double to) const { return normal_between(from / sigma_, to / sigma_); }
  double with(double from, double to) const {
    return (1 - q_) * without(from, to) + q_ * normal_between((from - 1) / sigma_, (to - 1) / sigma_);
  }

  double sigma_, q_;
  Neighbour neighbour_;
};

// Losses j * step for j from `lowest` to `highest`. Index j modulo `points` in the transforms.
struct Grid {
  double step = 0;
  std::int64_t lowest = 0, highest = 0, points = 0;
};

// Chernoff's bounds on the composed loss at the Renyi orders, both ways; removing a unit has the larger
// moments (Mironov, Talwar and Zhang, 2019, theorem 5), so one grid serves both.
Grid grid_for(std::span<const NoisySteps> composition, double tail) {
  const std::vector<double>& orders = renyi_orders();
  const std::vector<double> divergences = renyi_of(composition, orders);
  double above = kInfinity, below = -std::log(tail);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double a = orders[i];
    above = std::min(above, divergences[i] - std::log(tail) / (a - 1));
    below = std::min(below, ((a - 1) * divergences[i] - std::log(tail)) / a);
  }
  double deviation = kInfinity;
  for (const NoisySteps& part : composition)
    deviation = std::min(deviation, part.rate * std::sqrt(std::expm1(1 / (part.sigma * part.sigma))));
  deviation = std::min(deviation, 1.0);
  Grid grid;
  const double range = above + below;
  double points =
      std::clamp(range / deviation * kPointsPerDeviation, double{kFewestPoints}, double{kMostPoints});
  grid.points = std::int64_t{1} << static_cast<int>(std::ceil(std::log2(points)));
  grid.step = range / static_cast<double>(grid.points - 4);
  grid.highest = static_cast<std::int64_t>(std::ceil(above / grid.step));
  grid.lowest = grid.highest - grid.points + 1;
  return grid;
}

struct GridLoss {
  std::vector<double> mass;  // at each point, index j modulo points
  double infinite = 0;       // above the grid
};

// The points between which the loss of one step lies but for kNothing.
std::pair<std::int64_t, std::int64_t> support_of(const StepLoss& loss, const Grid& grid) {
  const auto empty = [&](double a, double b) {
    const auto [own, other] = loss.between(a, b);
    return own < kNothing && other < kNothing;
  };
  const auto value = [&](std::int64_t j) { return static_cast<double>(j) * grid.step; };
  // The lowest point below which something lies, less one; the highest above which something lies, plus one.
  std::int64_t low = grid.lowest, high = grid.highest;
  for (std::int64_t width = grid.points / 2; width > 0; width /= 2) {
    if (low + width < grid.highest && empty(-kInfinity, value(low + width))) low += width;
    if (high - width > grid.lowest && empty(value(high - width), kInfinity)) high -= width;
  }
  return {std::min(low, high - 1), std::max(high, low + 1)};
}

// Between two neighbouring points the curve delta(e^epsilon) becomes its chord. A chord's slope is the
// neighbour's mass above it, so the masses are differences of slopes.
GridLoss on_grid(const StepLoss& loss, const Grid& grid) {
  GridLoss result;
  result.mass.assign(static_cast<std::size_t>(grid.points), 0.0);
  const auto put = [&](std::int64_t j, double mass) {
    const std::int64_t index = ((j % grid.points) + grid.points) % grid.points;
    result.mass[static_cast<std::size_t>(index)] = std::max(0.0, mass);
  };
  const auto [lowest, highest] = support_of(loss, grid);
  const double first = static_cast<double>(lowest) * grid.step;
  // What the slope of the chord below a point has over the neighbour's true mass above that point.
  double excess = loss.between(-kInfinity, first).first * std::exp(-first);
  const double widening = std::expm1(grid.step);
  for (std::int64_t j = lowest; j < highest; ++j) {
    const double here = static_cast<double>(j) * grid.step, next = static_cast<double>(j + 1) * grid.step;
    const auto [own, other] = loss.between(here, next);
    // (own - e^here other) / (e^next - e^here), with e^here taken out of both.
    const double next_excess = std::max(0.0, own * std::exp(-here) - other) / widening;
    put(j, std::exp(here) * (other + excess - next_excess));
    excess = next_excess;
  }
  const double last = static_cast<double>(highest) * grid.step;
  const auto [own, other] = loss.between(last, kInfinity);
  put(highest, std::exp(last) * (other + excess));
  result.infinite = std::max(0.0, own - std::exp(last) * other);
  return result;
}

GridLoss composed(std::span<const NoisySteps> composition, const Grid& grid, Neighbour neighbour) {
  at::Tensor spectrum;
  double log_finite = 0;
  for (const NoisySteps& part : composition) {
    if (part.steps == 0) continue;
    GridLoss one = on_grid(StepLoss(part, neighbour), grid);
    log_finite += static_cast<double>(part.steps) * std::log1p(-one.infinite);
    const at::Tensor values = at::from_blob(one.mass.data(), {grid.points}, at::kDouble);
    at::Tensor power = at::fft_rfft(values).pow(static_cast<double>(part.steps));
    spectrum = spectrum.defined() ? spectrum * power : power;
  }
  const at::Tensor mass = at::fft_irfft(spectrum, grid.points).contiguous();
  const double* values = mass.data_ptr<double>();
  return {{values, values + grid.points}, -std::expm1(log_finite)};
}

// The epsilon at which delta is met. Between two points of the grid delta is linear in e^epsilon.
double epsilon_at(const GridLoss& loss, const Grid& grid, double delta) {
  double above = loss.infinite + kTail * delta;  // mass of larger losses, those that fell off among them
  if (above >= delta) return kInfinity;
  double weighted = 0;  // of the same, mass * e^-loss; without what is infinite
  for (std::int64_t j = grid.highest; j >= grid.lowest; --j) {
    const double here = static_cast<double>(j) * grid.step;
    if (above - std::exp(here) * weighted >= delta) return std::log((above - delta) / weighted);
    const std::int64_t index = ((j % grid.points) + grid.points) % grid.points;
    const double mass = std::max(0.0, loss.mass[static_cast<std::size_t>(index)]);
    above += mass;
    weighted += mass * std::exp(-here);
  }
  return -kInfinity;  // delta alone covers all
}

}  // namespace

double privacy_loss_epsilon(std::span<const NoisySteps> composition, double delta,
                            const GridAllowance& allowance) {
  check_steps(composition);
  check_delta(delta);
  delta *= 1 - allowance.delta_share;
  std::vector<NoisySteps> parts;
  for (const NoisySteps& part : composition)
    if (part.steps > 0) parts.push_back(part);
  if (parts.empty()) return 0;
  if (std::ranges::any_of(parts, [](const NoisySteps& part) { return part.sigma == 0; })) return kInfinity;
  const Grid grid = grid_for(parts, kTail * delta);
  double worst = 0;
  for (const Neighbour neighbour : {Neighbour::removed, Neighbour::added})
    worst = std::max(worst, epsilon_at(composed(parts, grid, neighbour), grid, delta));
  // Rounding in the transforms hides the smallest deltas; Renyi's bound holds there too.
  return std::min(worst, renyi_epsilon(parts, delta)) + allowance.epsilon;
}

}  // namespace undertext
