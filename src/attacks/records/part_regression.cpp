#include "attacks/records/part_regression.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cholesky.h"
#include "base/error.h"

namespace undertext {
namespace {

// Few rounds and many clients: what is not shown is taken for little. Chosen on simulated federations.
constexpr double kEffectRidge = 1, kMemoryRidge = 0.3;

// How many take part in each round, where that can be told; -1: it cannot.
std::int64_t participants(const FederationObservation& observation) {
  std::set<std::int64_t> counts;
  for (const auto& round : observation.took_part)
    if (std::ranges::find(round, TookPart::unknown) == round.end())
      counts.insert(std::ranges::count(round, TookPart::yes));
  return counts.size() == 1 ? *counts.begin() : -1;
}

}  // namespace

Matrix<double> expected_parts(const FederationObservation& observation) {
  double known = 0, yes = 0;
  for (const auto& round : observation.took_part)
    for (const TookPart took : round) {
      known += took == TookPart::unknown ? 0 : 1;
      yes += took == TookPart::yes ? 1 : 0;
    }
  const double rate = known > 0 ? yes / known : 0.5;
  const std::int64_t every = participants(observation);
  Matrix<double> parts(observation.rounds, observation.clients);
  for (std::int64_t t = 0; t < parts.rows; ++t) {
    const auto& round = observation.took_part[static_cast<std::size_t>(t)];
    const auto unknown = std::ranges::count(round, TookPart::unknown);
    const auto left = every - std::ranges::count(round, TookPart::yes);
    const double chance =
        every < 0
            ? rate
            : std::clamp(static_cast<double>(left) / std::max(1.0, static_cast<double>(unknown)), 0.0, 1.0);
    for (std::int64_t i = 0; i < parts.cols; ++i) {
      const TookPart took = round[static_cast<std::size_t>(i)];
      parts(t, i) = took == TookPart::unknown ? chance : took == TookPart::yes ? 1 : 0;
    }
  }
  return parts;
}

PartRegression::PartRegression(const Matrix<double>& parts, double half_life)
    : columns_(1 + parts.cols, parts.rows, 1.0), inverse_(1 + parts.cols, 1 + parts.cols) {
  for (std::int64_t t = 0; t < parts.rows; ++t) {
    weight_.push_back(std::exp2(-static_cast<double>(parts.rows - 1 - t) / half_life));
    for (std::int64_t i = 0; i < parts.cols; ++i) columns_(1 + i, t) = parts(t, i) - 0.5;
  }
  const std::int64_t n = columns_.rows;
  Matrix<double> products(n, n);
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b) {
      for (std::int64_t t = 0; t < columns_.cols; ++t)
        products(a, b) += weight_[static_cast<std::size_t>(t)] * columns_(a, t) * columns_(b, t);
      if (a == b && a > 0) products(a, b) += kEffectRidge;
    }
  const bool definite = cholesky(products);
  UNDERTEXT_CHECK(definite);
  inverse_ = cholesky_inverse(std::move(products));
}

// Of a series and of itself one round earlier with the columns, and what the columns alone make of both.
struct PartRegression::Products {
  double own_square = 0, own_series = 0;  // of the earlier values with themselves and with the series
  std::vector<double> with_earlier;       // of the columns with the earlier values
  std::vector<double> series, earlier;    // coefficients of the columns alone for both
  double memory = 0;
};

PartRegression::Products PartRegression::products(std::span<const double> series) const {
  UNDERTEXT_CHECK(std::ssize(series) == rounds() + 1);
  const auto n = static_cast<std::size_t>(columns_.rows);
  Products p;
  std::vector<double> with_series(n, 0.0);
  p.with_earlier.assign(n, 0.0);
  for (std::size_t t = 0; t < weight_.size(); ++t) {
    const double w = weight_[t], earlier = series[t], now = series[t + 1];
    p.own_square += w * earlier * earlier;
    p.own_series += w * earlier * now;
    for (std::size_t a = 0; a < n; ++a) {
      const double column = columns_(static_cast<std::int64_t>(a), static_cast<std::int64_t>(t));
      with_series[a] += w * column * now;
      p.with_earlier[a] += w * column * earlier;
    }
  }
  p.series.assign(n, 0.0);
  p.earlier.assign(n, 0.0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const double inverse = inverse_(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
      p.series[a] += inverse * with_series[b];
      p.earlier[a] += inverse * p.with_earlier[b];
    }
  double above = p.own_series, below = p.own_square + kMemoryRidge;
  for (std::size_t a = 0; a < n; ++a) {
    above -= p.with_earlier[a] * p.series[a];
    below -= p.with_earlier[a] * p.earlier[a];
  }
  p.memory = above / below;
  return p;
}

double PartRegression::effect(std::span<const double> series, std::int64_t client) const {
  const Products p = products(series);
  const auto at = static_cast<std::size_t>(client) + 1;
  return p.series[at] - p.memory * p.earlier[at];
}

PartEffects PartRegression::effects(std::span<const double> series) const {
  const Products p = products(series);
  const auto n = static_cast<std::size_t>(columns_.rows);
  PartEffects result;
  result.memory = p.memory;
  std::vector<double> coefficient(n);
  for (std::size_t a = 0; a < n; ++a) coefficient[a] = p.series[a] - p.memory * p.earlier[a];
  result.constant = coefficient[0];
  double squares = 0, weights = 0, below = p.own_square + kMemoryRidge;
  for (std::size_t t = 0; t < weight_.size(); ++t) {
    double rest = series[t + 1] - p.memory * series[t];
    for (std::size_t a = 0; a < n; ++a)
      rest -= coefficient[a] * columns_(static_cast<std::int64_t>(a), static_cast<std::int64_t>(t));
    squares += weight_[t] * rest * rest;
    weights += weight_[t];
  }
  for (std::size_t a = 0; a < n; ++a) below -= p.with_earlier[a] * p.earlier[a];
  // As many rounds as the weights come to, less what was fitted; with few of them, half a round at least.
  const double freedom = std::max(0.5, weights - static_cast<double>(n) - 1);
  result.noise = std::sqrt(squares / freedom);
  for (std::size_t a = 1; a < n; ++a) {
    const double variance = inverse_(static_cast<std::int64_t>(a), static_cast<std::int64_t>(a)) +
                            p.earlier[a] * p.earlier[a] / below;  // of the inverse with the memory in it
    result.effect.push_back(coefficient[a]);
    result.deviation.push_back(result.noise * std::sqrt(variance));
  }
  return result;
}

}  // namespace undertext
