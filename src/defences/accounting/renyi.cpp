#include "defences/accounting/renyi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace undertext {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kExponentLeftOut = 30;  // of a series: a share of e^-30

// log(exp(a) + exp(b)).
double log_add(double a, double b) {
  const double larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// log(exp(a) - exp(b)); the two are equal only by rounding, and their difference then nothing.
double log_subtract(double a, double b) {
  return b >= a ? -kInfinity : a + std::log1p(-std::exp(b - a));
}

// log erfc(x), also where erfc is too small for a double: there by its asymptotic series.
double log_erfc(double x) {
  if (x < 25) return std::log(std::erfc(x));
  const double s = 1 / (x * x);
  return -x * x - std::log(x) - 0.5 * std::log(std::numbers::pi) +
         std::log1p(s * (-0.5 + s * (0.75 - 1.875 * s)));
}

double log_moment_whole(double sigma, double q, std::int64_t order) {
  const auto a = static_cast<double>(order);
  const double log_q = std::log(q), log_rest = std::log1p(-q);
  double total = -kInfinity, log_binomial = 0;
  for (std::int64_t i = 0; i <= order; ++i) {
    const auto k = static_cast<double>(i);
    total = log_add(total, log_binomial + k * log_q + (a - k) * log_rest + (k * k - k) / (2 * sigma * sigma));
    log_binomial += std::log((a - k) / (k + 1));
  }
  return total;
}

// The moment is an integral of ((1 - q) + q e^((2z - 1) / 2 sigma^2))^a under N(0, sigma^2). Left of z0 the
// first summand is the larger, right of it the second: each side is a binomial series of its own, whose terms
// are Gaussian integrals. The coefficients change their sign from the term a on.
double log_moment_between(double sigma, double q, double a) {
  const double z0 = sigma * sigma * std::log(1 / q - 1) + 0.5, root = std::numbers::sqrt2 * sigma;
  double left = -kInfinity, right = -kInfinity;
  const double log_q = std::log(q), log_rest = std::log1p(-q);
  double log_coefficient = 0;
  bool positive = true;
  for (int i = 0;; ++i) {
    const double k = i, rest = a - k;
    const double l = log_coefficient + k * log_q + rest * log_rest + (k * k - k) / (2 * sigma * sigma) +
                     log_erfc((k - z0) / root) - std::numbers::ln2;
    const double r = log_coefficient + rest * log_q + k * log_rest +
                     (rest * rest - rest) / (2 * sigma * sigma) + log_erfc((z0 - rest) / root) -
                     std::numbers::ln2;
    left = positive ? log_add(left, l) : log_subtract(left, l);
    right = positive ? log_add(right, r) : log_subtract(right, r);
    // From the term a on they fall, with changing signs: what is left out is smaller than the last.
    if (k > a && std::max(l, r) < std::max(left, right) - kExponentLeftOut) break;
    if (i > 1'000'000) return kInfinity;  // says nothing, which is always true
    log_coefficient += std::log(std::abs(rest)) - std::log(k + 1);
    if (rest < 0) positive = !positive;
  }
  return log_add(left, right);
}

std::vector<double> made_orders() {
  std::vector<double> orders;
  for (int tenths = 11; tenths < 110; ++tenths) orders.push_back(tenths / 10.0);
  for (int order = 12; order < 64; ++order) orders.push_back(order);
  for (const double order : {72., 96., 128., 192., 256., 384., 512., 1024.}) orders.push_back(order);
  return orders;
}

}  // namespace

const std::vector<double>& renyi_orders() {
  static const std::vector<double> orders = made_orders();
  return orders;
}

double renyi_of_step(double sigma, double rate, double order) {
  UNDERTEXT_CHECK(order > 1);
  if (sigma == 0) return kInfinity;
  if (rate == 1) return order / (2 * sigma * sigma);
  const bool whole = order == std::floor(order);
  const double log_moment = whole ? log_moment_whole(sigma, rate, static_cast<std::int64_t>(order))
                                  : log_moment_between(sigma, rate, order);
  return std::max(0.0, log_moment / (order - 1));
}

double renyi_of_tree(double sigma, std::int64_t leaves, std::int64_t trees, double order) {
  UNDERTEXT_CHECK(leaves > 0 && trees >= 0);
  if (sigma == 0) return kInfinity;
  const auto nodes = static_cast<double>(nodes_above_leaf(leaves) * trees);
  return nodes * order / (2 * sigma * sigma);
}

std::vector<double> renyi_of(std::span<const NoisySteps> composition, std::span<const double> orders) {
  std::vector<double> divergences(orders.size(), 0.0);
  for (const NoisySteps& part : composition)
    for (std::size_t i = 0; part.steps > 0 && i < orders.size(); ++i)
      divergences[i] += static_cast<double>(part.steps) * renyi_of_step(part.sigma, part.rate, orders[i]);
  return divergences;
}

RenyiEpsilon epsilon_from_renyi(std::span<const double> orders, std::span<const double> divergences,
                                double delta) {
  UNDERTEXT_CHECK(orders.size() == divergences.size());
  RenyiEpsilon least{kInfinity, 0};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double a = orders[i];
    const double epsilon = divergences[i] + std::log1p(-1 / a) - (std::log(delta) + std::log(a)) / (a - 1);
    if (epsilon < least.epsilon) least = {epsilon, a};
  }
  least.epsilon = std::max(0.0, least.epsilon);
  return least;
}

double renyi_epsilon(std::span<const NoisySteps> composition, double delta) {
  check_steps(composition);
  check_delta(delta);
  const std::vector<double>& orders = renyi_orders();
  return epsilon_from_renyi(orders, renyi_of(composition, orders), delta).epsilon;
}

}  // namespace undertext
