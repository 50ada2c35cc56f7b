#include "attacks/records/unknown_parts.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace undertext {
namespace {

constexpr double kMostSaid = 6;  // nats that one record may say of one round

double chance_of(double log_odds) {
  return 1 / (1 + std::exp(-log_odds));
}

// log p(x_t | the client took part) - log p(x_t | it did not).
double said_by(const FoundRecord& record, const PartEffects& effects, const Matrix<double>& parts,
               std::int64_t round) {
  const auto t = static_cast<std::size_t>(round);
  double rest = record.series[t + 1] - effects.constant - effects.memory * record.series[t];
  for (std::int64_t j = 0; j < parts.cols; ++j)
    if (j != record.client) rest -= effects.effect[static_cast<std::size_t>(j)] * (parts(round, j) - 0.5);
  const double effect = effects.effect[static_cast<std::size_t>(record.client)];
  const double noise = std::max(effects.noise, 1e-6);
  // ((rest + effect / 2)^2 - (rest - effect / 2)^2) / (2 noise^2), as far as the record is to be trusted.
  return std::clamp(record.confidence * rest * effect / (noise * noise), -kMostSaid, kMostSaid);
}

// Shifts all log-odds by the same amount, so that the chances sum to `sum`.
void shift_to_sum(std::vector<double>& log_odds, double sum) {
  double low = -60, high = 60;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    double total = 0;
    for (const double one : log_odds) total += chance_of(one + middle);
    (total < sum ? low : high) = middle;
  }
  for (double& one : log_odds) one += low;
}

}  // namespace

Matrix<double> refined_parts(const FederationObservation& observation, const Matrix<double>& parts,
                             std::span<const FoundRecord> found) {
  const Matrix<double> prior = expected_parts(observation);
  const PartRegression regression(parts);
  std::vector<PartEffects> effects;
  for (const FoundRecord& record : found) effects.push_back(regression.effects(record.series));
  Matrix<double> refined = prior;
  for (std::int64_t t = 0; t < parts.rows; ++t) {
    std::vector<std::int64_t> unknown;
    std::vector<double> log_odds;
    double sum = 0;
    for (std::int64_t i = 0; i < parts.cols; ++i) {
      const TookPart took = observation.took_part[static_cast<std::size_t>(t)][static_cast<std::size_t>(i)];
      const double chance = prior(t, i);
      if (took != TookPart::unknown || chance <= 0 || chance >= 1) continue;
      unknown.push_back(i);
      log_odds.push_back(std::log(chance / (1 - chance)));
      sum += chance;
      for (std::size_t r = 0; r < found.size(); ++r)
        if (found[r].client == i) log_odds.back() += said_by(found[r], effects[r], parts, t);
    }
    shift_to_sum(log_odds, sum);
    for (std::size_t k = 0; k < unknown.size(); ++k) refined(t, unknown[k]) = chance_of(log_odds[k]);
  }
  return refined;
}

}  // namespace undertext
