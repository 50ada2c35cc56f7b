#include "attacks/records/owner_evidence.h"

#include <cmath>

#include "base/random.h"

namespace undertext {
namespace {

constexpr int kDeals = 64;
// A search picks what moves with the client by accident, too: with dealt-out parts the significance of what
// it finds lies about 1 and seldom above 2.5; that of true records lies above 2.5 from 15 rounds on and above
// 3.5 from 30 on (simulated federations).
constexpr double kEven = 2.4, kSlope = 2.5;

Matrix<double> dealt_out(const Matrix<double>& parts, Seed seed) {
  Matrix<double> result = parts;
  Random random(seed);
  for (std::int64_t t = parts.rows; t > 1; --t) {
    const auto other = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(t)));
    std::swap_ranges(result.row(t - 1), result.row(t - 1) + (other == t - 1 ? 0 : result.cols),
                     result.row(other));
  }
  return result;
}

}  // namespace

OwnerEvidence::OwnerEvidence(const Matrix<double>& parts) : regression_(parts) {
  const Seed seed = Seed(1).derive("parts dealt out");
  for (int k = 0; k < kDeals; ++k)
    dealt_.emplace_back(dealt_out(parts, seed.derive(static_cast<std::uint64_t>(k))));
}

double OwnerEvidence::significance(std::span<const double> series, std::int64_t client) const {
  double sum = 0, squares = 0;
  for (const PartRegression& dealt : dealt_) {
    const double effect = dealt.effect(series, client);
    sum += effect;
    squares += effect * effect;
  }
  const double mean = sum / kDeals, variance = squares / kDeals - mean * mean;
  if (variance <= 0) return 0;  // the client always or never took part
  return (regression_.effect(series, client) - mean) / std::sqrt(variance);
}

double OwnerEvidence::chance(std::span<const double> series, std::int64_t client) const {
  return 1 / (1 + std::exp(-kSlope * (significance(series, client) - kEven)));
}

std::int64_t OwnerEvidence::likeliest_owner(std::span<const double> series) const {
  const PartEffects effects = regression_.effects(series);
  std::size_t best = 0;
  for (std::size_t i = 1; i < effects.effect.size(); ++i)
    if (effects.effect[i] * effects.deviation[best] > effects.effect[best] * effects.deviation[i]) best = i;
  return static_cast<std::int64_t>(best);
}

}  // namespace undertext
