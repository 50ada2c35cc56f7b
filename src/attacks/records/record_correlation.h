// How a record's exposure moves with a client's part in the federation (record-level, eqs. 9 and 11).
#pragma once

#include <span>
#include <vector>

#include "base/matrix.h"
#include "federated/federation_observation.h"

namespace undertext {

// Exposures after every round, T + 1 numbers, as the T changes from round to round.
std::vector<double> exposure_changes(std::span<const double> exposures);

// ECorr, eq. 9: Spearman's correlation of the changes with s_t, 1 where the client took part and -1 where it
// did not. Rounds in which that is unknown are left out. 0 where the client always or never took part.
double eavesdropping_correlation(std::span<const double> changes, const FederationObservation& observation,
                                 std::int64_t client);

// WCorr, eq. 11: with the changes of a watermark's exposure.
double watermark_correlation(std::span<const double> changes, std::span<const double> watermark_changes);

// The client with the highest ECorr: the record's owner, as figure 2 shows.
std::int64_t owner_by_correlation(std::span<const double> changes, const FederationObservation& observation);

// ECorr of one record with every client, as it stands after each round: (rounds, clients), the curves of
// figure 2.
Matrix<double> eavesdropping_curves(std::span<const double> changes,
                                    const FederationObservation& observation);
// WCorr of one record with each watermark after each round: (rounds, watermarks), figure 3.
Matrix<double> watermark_curves(std::span<const double> changes,
                                std::span<const std::vector<double>> watermark_changes);

}  // namespace undertext
