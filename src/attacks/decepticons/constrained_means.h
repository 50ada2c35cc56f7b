// Clusters of bounded size.
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix.h"
#include "base/random.h"

namespace undertext {

struct ClusterOptions {
  std::int64_t clusters = 1;
  std::int64_t capacity = 1;  // most points of a cluster; clusters * capacity >= points
  int restarts = 10;
  Seed seed{1};
};

// Constrained k-means (Bradley, Bennett and Demiriz 2000) with at most `capacity` points per cluster: the
// cluster of each point. Starts by k-means++ and without the bound, from several seeds; the bound then holds
// from the best of these on, each step a min-cost flow.
std::vector<std::int64_t> cluster_within(const Matrix<float>& points, const ClusterOptions& options);

}  // namespace undertext
