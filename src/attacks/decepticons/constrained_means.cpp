#include "attacks/decepticons/constrained_means.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "base/transport.h"

namespace undertext {
namespace {

constexpr int kFreeSteps = 25, kBoundSteps = 10;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

class Means {
 public:
  explicit Means(const Matrix<float>& points) : points_(points), from_center_(points.cols, 0) {}

  // k-means++ (Arthur and Vassilvitskii 2007): the next center is a point drawn by its squared distance from
  // those that are there.
  void seed(std::int64_t k, Random& random) {
    from_center_ = Matrix<float>(points_.cols, k);
    std::vector<float> nearest(at(points_.rows), std::numeric_limits<float>::max());
    for (std::int64_t c = 0; c < k; ++c) {
      const std::int64_t chosen = c == 0 ? any(random) : by_distance(nearest, random);
      for (std::int64_t j = 0; j < points_.cols; ++j) from_center_(j, c) = points_(chosen, j);
      for (std::int64_t i = 0; i < points_.rows; ++i) {
        float distance = 0;
        for (std::int64_t j = 0; j < points_.cols; ++j) {
          const float gap = points_(i, j) - points_(chosen, j);
          distance += gap * gap;
        }
        nearest[at(i)] = std::min(nearest[at(i)], distance);
      }
    }
  }

  // Squared distances of a point to all centers.
  void distances(std::int64_t i, float* out) const {
    const std::int64_t k = from_center_.cols;
    std::fill_n(out, k, 0.0f);
    for (std::int64_t j = 0; j < points_.cols; ++j) {
      const float x = points_(i, j);
      const float* centers = from_center_.row(j);
      for (std::int64_t c = 0; c < k; ++c) out[c] += (x - centers[c]) * (x - centers[c]);
    }
  }

  // The nearest center of each point; returns the sum of squared distances.
  double assign(std::vector<std::int64_t>& cluster) const {
    std::vector<float> all(at(from_center_.cols));
    double inertia = 0;
    for (std::int64_t i = 0; i < points_.rows; ++i) {
      distances(i, all.data());
      const auto best = std::ranges::min_element(all);
      cluster[at(i)] = best - all.begin();
      inertia += *best;
    }
    return inertia;
  }

  std::vector<std::int64_t> assign_within(std::int64_t capacity) const {
    Matrix<float> costs(points_.rows, from_center_.cols);
    for (std::int64_t i = 0; i < points_.rows; ++i) distances(i, costs.row(i));
    const std::vector<std::int64_t> room(at(from_center_.cols), capacity);
    return solve_transport(costs, room);
  }

  // Centers become the means of their points; one without points stays where it is.
  void move(const std::vector<std::int64_t>& cluster) {
    const std::int64_t k = from_center_.cols;
    std::vector<double> sums(at(k * points_.cols), 0.0), counts(at(k), 0.0);
    for (std::int64_t i = 0; i < points_.rows; ++i) {
      counts[at(cluster[at(i)])] += 1;
      for (std::int64_t j = 0; j < points_.cols; ++j) sums[at(j * k + cluster[at(i)])] += points_(i, j);
    }
    for (std::int64_t j = 0; j < points_.cols; ++j)
      for (std::int64_t c = 0; c < k; ++c)
        if (counts[at(c)] > 0) from_center_(j, c) = static_cast<float>(sums[at(j * k + c)] / counts[at(c)]);
  }

 private:
  std::int64_t any(Random& random) const {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(points_.rows)));
  }
  std::int64_t by_distance(const std::vector<float>& nearest, Random& random) const {
    double total = 0;
    for (const float distance : nearest) total += distance;
    if (!(total > 0)) return any(random);
    double left = random.uniform() * total;
    for (std::int64_t i = 0; i < points_.rows; ++i)
      if ((left -= nearest[at(i)]) < 0) return i;
    return points_.rows - 1;
  }

  const Matrix<float>& points_;
  Matrix<float> from_center_;  // (dimensions, clusters), so that loops run over clusters
};

struct Start {
  Means means;
  double inertia = std::numeric_limits<double>::max();
};

}  // namespace

std::vector<std::int64_t> cluster_within(const Matrix<float>& points, const ClusterOptions& options) {
  UNDERTEXT_CHECK(options.clusters > 0 && options.clusters * options.capacity >= points.rows);
  if (points.rows == 0) return {};
  if (options.clusters == 1) return std::vector<std::int64_t>(at(points.rows), 0);
  std::vector<Start> starts(static_cast<std::size_t>(options.restarts), Start{Means(points)});
  parallel_for(options.restarts, [&](std::int64_t r) {
    Start& start = starts[at(r)];
    Random random(options.seed.derive("clusters").derive(static_cast<std::uint64_t>(r)));
    start.means.seed(options.clusters, random);
    std::vector<std::int64_t> cluster(at(points.rows));
    for (int step = 0; step < kFreeSteps; ++step) {
      const double inertia = start.means.assign(cluster);
      const bool settled = inertia >= start.inertia * (1 - 1e-4);
      start.inertia = std::min(start.inertia, inertia);
      if (settled) break;
      start.means.move(cluster);
    }
  });
  Means& best = std::ranges::min_element(starts, {}, &Start::inertia)->means;
  std::vector<std::int64_t> cluster;
  for (int step = 0; step < kBoundSteps; ++step) {
    std::vector<std::int64_t> next = best.assign_within(options.capacity);
    if (next == cluster) break;
    cluster = std::move(next);
    best.move(cluster);
  }
  return cluster;
}

}  // namespace undertext
