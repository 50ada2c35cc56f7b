#include "attacks/records/record_correlation.h"

#include "base/error.h"
#include "base/ranks.h"

namespace undertext {

std::vector<double> exposure_changes(std::span<const double> exposures) {
  std::vector<double> changes;
  for (std::size_t t = 1; t < exposures.size(); ++t) changes.push_back(exposures[t] - exposures[t - 1]);
  return changes;
}

double eavesdropping_correlation(std::span<const double> changes, const FederationObservation& observation,
                                 std::int64_t client) {
  UNDERTEXT_CHECK(changes.size() <= observation.took_part.size());
  std::vector<double> known, part;
  for (std::size_t t = 0; t < changes.size(); ++t) {
    const TookPart took = observation.took_part[t][static_cast<std::size_t>(client)];
    if (took == TookPart::unknown) continue;
    known.push_back(changes[t]);
    part.push_back(took == TookPart::yes ? 1 : -1);
  }
  return rank_correlation(known, part);
}

double watermark_correlation(std::span<const double> changes, std::span<const double> watermark_changes) {
  return rank_correlation(changes, watermark_changes);
}

std::int64_t owner_by_correlation(std::span<const double> changes, const FederationObservation& observation) {
  std::int64_t owner = 0;
  double most = -2;
  for (std::int64_t client = 0; client < observation.clients; ++client) {
    const double correlation = eavesdropping_correlation(changes, observation, client);
    if (correlation <= most) continue;
    most = correlation;
    owner = client;
  }
  return owner;
}

Matrix<double> eavesdropping_curves(std::span<const double> changes,
                                    const FederationObservation& observation) {
  Matrix<double> curves(std::ssize(changes), observation.clients);
  for (std::int64_t t = 0; t < curves.rows; ++t)
    for (std::int64_t client = 0; client < curves.cols; ++client)
      curves(t, client) =
          eavesdropping_correlation(changes.first(static_cast<std::size_t>(t) + 1), observation, client);
  return curves;
}

Matrix<double> watermark_curves(std::span<const double> changes,
                                std::span<const std::vector<double>> watermark_changes) {
  Matrix<double> curves(std::ssize(changes), std::ssize(watermark_changes));
  for (std::int64_t t = 0; t < curves.rows; ++t)
    for (std::int64_t w = 0; w < curves.cols; ++w) {
      const auto until = static_cast<std::size_t>(t) + 1;
      const std::span<const double> watermark = watermark_changes[static_cast<std::size_t>(w)];
      curves(t, w) = watermark_correlation(changes.first(until), watermark.first(until));
    }
  return curves;
}

}  // namespace undertext
