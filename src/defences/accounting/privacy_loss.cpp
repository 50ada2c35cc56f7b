#include "defences/accounting/privacy_loss.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/error.h"
#include "defences/accounting/renyi.h"

namespace undertext {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Probability that may fall off the grid, as a share of delta. It is added to delta's side of the account.
constexpr double kTail = 1e-6;
// A step's loss is taken to lie between points beyond which both data sets put less than this share of delta,
// over all steps. Above, it counts as lost; below, it is raised to the lowest point: both err upwards.
constexpr double kNothing = 1e-8;
constexpr std::int64_t kFewestPoints = 1 << 12, kMostPoints = 1 << 22;

constexpr double kLargestLoss = 300;

enum class Neighbour { removed, added };

// What a normal distribution has below and above a place, both without cancelling.
struct NormalTails {
  double below, above;
  explicit NormalTails(double z) {
    const double tail = 0.5 * std::erfc(std::abs(z) / std::numbers::sqrt2);
    below = z < 0 ? tail : 1 - tail;
    above = z < 0 ? 1 - tail : tail;
  }
};

double between(const NormalTails& from, const NormalTails& to) {
  if (from.above < 0.5) return from.above - to.above;
  if (to.below < 0.5) return to.below - from.below;
  return 1 - from.below - to.above;
}

// One step, seen at the noisy sum x with the unit's part as the unit of length: without the unit
// N(0, sigma^2), with it (1 - q) N(0, sigma^2) + q N(1, sigma^2). The loss log(with / without) rises with x.
class StepLoss {
 public:
  explicit StepLoss(const NoisySteps& step) : sigma_(step.sigma), q_(step.rate) {}

  // Both distributions at the x where the loss is this.
  struct Place {
    NormalTails base, moved;
  };
  Place at(double loss) const {
    const double x = place(loss);
    return {NormalTails(x / sigma_), NormalTails((x - 1) / sigma_)};
  }
  double without(const Place& from, const Place& to) const { return between(from.base, to.base); }
  double with(const Place& from, const Place& to) const {
    return (1 - q_) * between(from.base, to.base) + q_ * between(from.moved, to.moved);
  }

 private:
  double place(double loss) const {
    if (loss == kInfinity) return kInfinity;
    const double inner = std::expm1(loss) / q_;
    return inner <= -1 ? -kInfinity : sigma_ * sigma_ * std::log1p(inner) + 0.5;
  }

  double sigma_, q_;
};

// Losses j * step for j from `lowest` to `highest`. Index j modulo `points` in the transforms.
struct Grid {
  double step = 0;
  std::int64_t lowest = 0, highest = 0, points = 0;
};

// Chernoff's bounds on the composed loss at the Renyi orders, both ways; removing a unit has the larger
// moments (Mironov, Talwar and Zhang, 2019, theorem 5), so one grid serves both. added: what
// it may add to epsilon, as far as its step decides.
Grid grid_for(std::span<const NoisySteps> composition, std::span<const double> divergences, double added,
              double tail) {
  const std::vector<double>& orders = renyi_orders();
  double above = kInfinity, below = -std::log(tail);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double a = orders[i];
    above = std::min(above, divergences[i] - std::log(tail) / (a - 1));
    below = std::min(below, ((a - 1) * divergences[i] - std::log(tail)) / a);
  }
  // A loss between two points goes to both of them: on average its variance grows by step^2 / 6 and its mean
  // by half of that, in each of all steps. Epsilon lies some five deviations out.
  double steps = 0, variance = 0;
  for (const NoisySteps& part : composition) {
    const double s = part.rate * std::sqrt(std::expm1(1 / (part.sigma * part.sigma)));
    steps += static_cast<double>(part.steps);
    variance += static_cast<double>(part.steps) * std::min(s * s, 1.0);
  }
  const double step = std::sqrt(12 * added / (steps * (1 + 5 / std::sqrt(variance))));
  Grid grid;
  const double range = above + below;
  const double points = std::clamp(range / step, double{kFewestPoints}, double{kMostPoints});
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

// The losses of one step at the points between which they lie but for `nothing`, in the direction of removing
// a unit. Those of adding one are the same with the other sign, so one table serves both.
class StepTable {
 public:
  StepTable(const StepLoss& loss, const Grid& grid, double nothing) : loss_(loss), grid_(grid) {
    const std::int64_t most = std::max(std::abs(grid.lowest), std::abs(grid.highest));
    const auto value = [&](std::int64_t j) { return static_cast<double>(j) * grid.step; };
    const auto empty = [&](const StepLoss::Place& from, const StepLoss::Place& to) {
      return loss.with(from, to) < nothing && loss.without(from, to) < nothing;
    };
    // The lowest point below which something lies, less one; the highest above which something lies, plus
    // one.
    low_ = -most, high_ = most;
    for (std::int64_t width = grid.points; width > 0; width /= 2) {
      if (low_ + width < most && empty(bottom_, loss.at(value(low_ + width)))) low_ += width;
      if (high_ - width > -most && empty(loss.at(value(high_ - width)), top_)) high_ -= width;
    }
    low_ = std::min(low_, high_ - 1);
    high_ = std::max(high_, low_ + 1);
    for (std::int64_t j = low_; j <= high_; ++j) places_.push_back(loss.at(value(j)));
  }

  // Between two neighbouring points the curve delta(e^epsilon) becomes its chord. A chord's slope is the
  // neighbour's mass above it, so the masses are differences of slopes.
  GridLoss on_grid(Neighbour neighbour) const {
    const bool removed = neighbour == Neighbour::removed;
    const std::int64_t lowest = std::max(removed ? low_ : -high_, grid_.lowest),
                       highest = std::max(std::min(removed ? high_ : -low_, grid_.highest), lowest + 1);
    // Masses of a loss between two points, under the data set that the loss is of, and under its neighbour.
    const auto masses = [&](const StepLoss::Place& from, const StepLoss::Place& to) {
      return removed ? std::pair(loss_.with(from, to), loss_.without(from, to))
                     : std::pair(loss_.without(to, from), loss_.with(to, from));
    };
    const StepLoss::Place &bottom = removed ? bottom_ : top_, &top = removed ? top_ : bottom_;
    const auto place = [&](std::int64_t j) -> const StepLoss::Place& {
      return places_[static_cast<std::size_t>((removed ? j : -j) - low_)];
    };
    GridLoss result;
    result.mass.assign(static_cast<std::size_t>(grid_.points), 0.0);
    const auto put = [&](std::int64_t j, double mass) {
      const std::int64_t index = ((j % grid_.points) + grid_.points) % grid_.points;
      result.mass[static_cast<std::size_t>(index)] = std::max(0.0, mass);
    };
    double factor = std::exp(static_cast<double>(lowest) * grid_.step);  // e^loss at the point
    // What the slope of the chord below a point has over the neighbour's true mass above that point.
    double excess = masses(bottom, place(lowest)).first / factor;
    const double widening = std::expm1(grid_.step);
    for (std::int64_t j = lowest; j < highest; ++j) {
      const auto [own, other] = masses(place(j), place(j + 1));
      // (own - e^here other) / (e^next - e^here), with e^here taken out of both.
      const double next_excess = std::max(0.0, own / factor - other) / widening;
      put(j, factor * (other + excess - next_excess));
      excess = next_excess;
      factor = std::exp(static_cast<double>(j + 1) * grid_.step);
    }
    const auto [own, other] = masses(place(highest), top);
    put(highest, factor * (other + excess));
    result.infinite = std::max(0.0, own - factor * other);
    return result;
  }

 private:
  const StepLoss& loss_;
  const Grid& grid_;
  std::int64_t low_ = 0, high_ = 0;
  std::vector<StepLoss::Place> places_;  // from low_ to high_
  StepLoss::Place bottom_{NormalTails(-kInfinity), NormalTails(-kInfinity)},
      top_{NormalTails(kInfinity), NormalTails(kInfinity)};
};

using Complex = c10::complex<double>;

// z^steps by squaring; zero where its square is below `least`, and nothing of the power would be left.
Complex power_of(Complex z, std::int64_t steps, double least) {
  if (!(std::norm(z) > least)) return 0;
  Complex power = 1;
  for (; steps > 0; steps /= 2, z *= z)
    if (steps % 2 == 1) power *= z;
  return power;
}

struct Composed {
  GridLoss removed, added;
};

// Both directions in one transform: real numbers are the real and the imaginary part of one signal, whose
// transform falls apart into both by its symmetry.
Composed composed(std::span<const NoisySteps> composition, const Grid& grid, double nothing) {
  const auto n = static_cast<std::size_t>(grid.points);
  std::vector<std::pair<Complex, Complex>> spectra(n / 2 + 1, {1, 1});
  double log_removed = 0, log_added = 0;  // of what is not infinite
  std::vector<Complex> signal(n);
  const auto tensor_of = [&] {
    return at::from_blob(signal.data(), {grid.points}, at::TensorOptions(at::kComplexDouble));
  };
  for (const NoisySteps& part : composition) {
    const StepLoss loss(part);
    const StepTable table(loss, grid, nothing);
    const GridLoss removed = table.on_grid(Neighbour::removed), added = table.on_grid(Neighbour::added);
    log_removed += static_cast<double>(part.steps) * std::log1p(-removed.infinite);
    log_added += static_cast<double>(part.steps) * std::log1p(-added.infinite);
    for (std::size_t i = 0; i < n; ++i) signal[i] = {removed.mass[i], added.mass[i]};
    const at::Tensor transformed = at::fft_fft(tensor_of()).contiguous();
    const Complex* z = transformed.data_ptr<Complex>();
    const double least = std::exp(-200.0 / static_cast<double>(part.steps));
    for (std::size_t f = 0; f <= n / 2; ++f) {
      const Complex here = z[f], mirror = std::conj(z[(n - f) % n]);
      spectra[f].first *= power_of(0.5 * (here + mirror), part.steps, least);
      spectra[f].second *= power_of(Complex(0, -0.5) * (here - mirror), part.steps, least);
    }
  }
  for (std::size_t f = 0; f < n; ++f) {
    const auto& [first, second] = spectra[std::min(f, n - f)];
    signal[f] =
        f <= n / 2 ? first + Complex(0, 1) * second : std::conj(first) + Complex(0, 1) * std::conj(second);
  }
  const at::Tensor both = at::fft_ifft(tensor_of()).contiguous();
  const Complex* values = both.data_ptr<Complex>();
  Composed result{{std::vector<double>(n), -std::expm1(log_removed)},
                  {std::vector<double>(n), -std::expm1(log_added)}};
  for (std::size_t i = 0; i < n; ++i) {
    result.removed.mass[i] = values[i].real();
    result.added.mass[i] = values[i].imag();
  }
  return result;
}

// The epsilon at which delta is met. Between two points of the grid delta is linear in e^epsilon.
double epsilon_at(const GridLoss& loss, const Grid& grid, double delta) {
  double above = loss.infinite + kTail * delta;  // mass of larger losses, those that fell off among them
  if (above >= delta) return kInfinity;
  double weighted = 0;  // of the same, mass * e^-loss; without what is infinite
  const double fall = std::exp(-grid.step);
  double factor = 0;  // e^loss; by products, and anew before their rounding can be felt
  for (std::int64_t j = grid.highest; j >= grid.lowest; --j) {
    factor = (grid.highest - j) % 64 == 0 ? std::exp(static_cast<double>(j) * grid.step) : factor * fall;
    if (above - factor * weighted >= delta) return std::log((above - delta) / weighted);
    const std::int64_t index = ((j % grid.points) + grid.points) % grid.points;
    const double mass = std::max(0.0, loss.mass[static_cast<std::size_t>(index)]);
    above += mass;
    weighted += mass / factor;
  }
  return -kInfinity;  // delta alone covers all
}

}  // namespace

double privacy_loss_epsilon(std::span<const NoisySteps> composition, double delta,
                            const GridAllowance& allowance, double roughness) {
  check_steps(composition);
  check_delta(delta);
  delta *= 1 - allowance.delta_share;
  std::vector<NoisySteps> parts;
  for (const NoisySteps& part : composition) {
    if (part.steps == 0) continue;
    const auto same = std::ranges::find_if(
        parts, [&](const NoisySteps& other) { return other.sigma == part.sigma && other.rate == part.rate; });
    same == parts.end() ? parts.push_back(part) : void(same->steps += part.steps);
  }
  if (parts.empty()) return 0;
  if (std::ranges::any_of(parts, [](const NoisySteps& part) { return part.sigma == 0; })) return kInfinity;
  const std::vector<double>& orders = renyi_orders();
  const std::vector<double> divergences = renyi_of(parts, orders);
  const double renyi = epsilon_from_renyi(orders, divergences, delta).epsilon;
  if (std::isinf(renyi)) return kInfinity;
  // Beyond, exp(loss) is no number that there is, and delta would come out as none. So little noise promises
  // nothing, and Renyi's bound is as good as any.
  if (renyi > kLargestLoss) return renyi + allowance.epsilon;
  const Grid grid = grid_for(parts, divergences, roughness * std::max(1.0, renyi), kTail * delta);
  std::int64_t steps = 0;
  for (const NoisySteps& part : parts) steps += part.steps;
  const Composed loss = composed(parts, grid, kNothing * delta / static_cast<double>(steps));
  const double worst =
      std::max({0.0, epsilon_at(loss.removed, grid, delta), epsilon_at(loss.added, grid, delta)});
  // Rounding in the transforms hides the smallest deltas; Renyi's bound holds there too.
  return std::min(worst, renyi) + allowance.epsilon;
}

}  // namespace undertext
