// Thresholds laid out by the server: quantiles of what it expects to measure, neuron by neuron and layer by
// layer (decepticons, section 3).
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "defences/inspection/checks.h"

namespace undertext {

std::vector<double> switching_points(const at::Tensor& bias, const RowDirections& directions) {
  std::vector<double> points = values_of(bias);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = directions.along[i] == 0 ? 0 : -points[i] / directions.along[i];
  return points;
}

void check_biases_of_layer(const std::string& name, const at::Tensor& bias, const std::vector<double>& points,
                           Findings& findings) {
  const std::vector<double> values = values_of(bias);
  const double order =
      values.size() < 2 ? 0 : std::max(std::abs(rank_order(values)), std::abs(rank_order(points)));
  findings.push_back(
      {name, EvidenceKind::ordered_biases, order, 0.8,
       fmt::format("{} biases follow their order with a rank correlation of {:.3g}", values.size(), order)});
  const double even = std::max(evenness(values), evenness(points));
  findings.push_back(
      {name, EvidenceKind::even_biases, even, 0.6,
       fmt::format("the sorted biases are spaced evenly to {:.3g} (a sample: 0, quantiles: 1)", even)});
}

// Share of the variance of ranks that the layers explain, by the most that as many layers can.
void check_biases_over_layers(const std::string& name, const std::vector<std::vector<double>>& points,
                              Findings& findings) {
  std::vector<double> all;
  for (const std::vector<double>& layer : points) all.insert(all.end(), layer.begin(), layer.end());
  const std::vector<double> ranks = ranks_of(all);
  const auto n = static_cast<double>(all.size()), layers = static_cast<double>(points.size());
  const double middle = (n - 1) / 2;
  double between = 0, total = 0;
  std::size_t at = 0;
  for (const std::vector<double>& layer : points) {
    double sum = 0;
    for (std::size_t i = 0; i < layer.size(); ++i, ++at) {
      sum += ranks[at] - middle;
      total += (ranks[at] - middle) * (ranks[at] - middle);
    }
    between += sum * sum / static_cast<double>(layer.size());
  }
  const double value = total > 0 ? between / total / (1 - 1 / (layers * layers)) : 0;
  findings.push_back(
      {name, EvidenceKind::layered_biases, std::min(value, 1.0), 0.97,
       fmt::format("the layers' biases lie beside each other to {:.3g} (1: each has a range of its own)",
                   std::min(value, 1.0))});
}

}  // namespace undertext
