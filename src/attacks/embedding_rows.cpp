#include "attacks/embedding_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/quantile.h"
#include "base/threads.h"

namespace undertext {
namespace {

// Of (rows, n) float32 numbers, which a tensor library would copy to double first: most of the time of a
// small attack.
std::vector<double> row_norms(const float* values, std::int64_t rows, std::int64_t n) {
  constexpr std::int64_t kBlock = 1024, kLanes = 16;
  std::vector<double> norms(static_cast<std::size_t>(rows));
  parallel_for((rows + kBlock - 1) / kBlock, [&](std::int64_t block) {
    for (std::int64_t i = block * kBlock; i < std::min(rows, (block + 1) * kBlock); ++i) {
      const float* row = values + i * n;
      double lanes[kLanes] = {};
      std::int64_t j = 0;
      for (; j + kLanes <= n; j += kLanes)
        for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(row[j + k]) * row[j + k];
      for (; j < n; ++j) lanes[0] += static_cast<double>(row[j]) * row[j];
      norms[static_cast<std::size_t>(i)] = std::sqrt(std::accumulate(lanes, lanes + kLanes, 0.0));
    }
  });
  return norms;
}

}  // namespace

std::vector<double> embedding_row_norms(const Observation& observation) {
  const auto name = observation.before->parameter_of(Role::token_embedding);
  if (!name || !observation.update.tensors.contains(*name)) return {};
  if (observation.update.protocol.kind != UpdateKind::gradient)
    return values_of(summed_gradient(observation, *name).norm(2, 1));
  const at::Tensor rows = observation.update.tensors.at(*name).to(at::kFloat).contiguous();
  return row_norms(rows.data_ptr<float>(), rows.size(0), rows.size(1));
}

bool tied(const LanguageModel& model) {
  return model.parameter_of(Role::token_embedding) == model.parameter_of(Role::output_weight);
}

std::vector<char> moved_rows(const Observation& observation, const std::vector<double>& norms,
                             double cutoff) {
  std::vector<char> moved(norms.size(), 0);
  double least = 0;
  if (tied(*observation.before)) {
    std::vector<double> logs;
    for (const double norm : norms)
      if (norm > 0) logs.push_back(std::log(norm));
    double mean = 0, variance = 0;
    for (const double value : logs) mean += value / static_cast<double>(logs.size());
    for (const double value : logs)
      variance += (value - mean) * (value - mean) / std::max(1.0, static_cast<double>(logs.size()) - 1);
    least = std::exp(mean + cutoff * std::sqrt(variance));
  }
  for (std::size_t k = 0; k < norms.size(); ++k) moved[k] = norms[k] > least;
  return moved;
}

std::vector<char> outstanding_rows(const std::vector<double>& norms) {
  constexpr double kDeviations = 4.5;
  std::vector<double> logs, gaps;
  for (const double norm : norms) logs.push_back(std::log(std::max(norm, 1e-300)));
  const double middle = quantile(logs, 0.5);
  for (const double value : logs) gaps.push_back(value - middle);
  const double deviation = deviation_around_zero(gaps);
  std::vector<char> found(norms.size(), 0);
  for (std::size_t k = 0; k < norms.size(); ++k) found[k] = logs[k] > middle + kDeviations * deviation;
  return found;
}

}  // namespace undertext
