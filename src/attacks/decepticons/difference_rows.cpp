#include "attacks/decepticons/difference_rows.h"

#include <ATen/ATen.h>

#include <cmath>

#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// A norm leaves inputs with a mean square of 1, which mixtures of different ones do not have.
bool has_length_of_one(const float* row, std::int64_t d) {
  constexpr double kNear = 0.01;
  double squares = 0;
  for (std::int64_t k = 0; k < d; ++k) squares += static_cast<double>(row[k]) * row[k];
  return std::abs(squares / static_cast<double>(d) - 1) < kNear;
}

// Rows that were kept lately; an input that lies close to an edge, or that a disguise moves from row to row,
// shows in bins that are not far apart.
constexpr std::int64_t kNear = 64;

bool shown_before(const Matrix<float>& rows, const float* row) {
  constexpr float kSame = 1 - 1e-5f;
  const std::int64_t d = rows.cols;
  float squares = 0;
  for (std::int64_t k = 0; k < d; ++k) squares += row[k] * row[k];
  for (std::int64_t i = std::max<std::int64_t>(0, rows.rows - kNear); i < rows.rows; ++i) {
    const float* other = rows.row(i);
    float product = 0, others = 0;
    for (std::int64_t k = 0; k < d; ++k) {
      product += row[k] * other[k];
      others += other[k] * other[k];
    }
    if (product > kSame * std::sqrt(squares * others)) return true;
  }
  return false;
}

}  // namespace

std::vector<LayerGradient> layer_gradients(const Transformer& model, const Observation& observation) {
  const Protocol& protocol = observation.update.protocol;
  const double sign = protocol.kind == UpdateKind::gradient ? 1 : -1 / protocol.learning_rate;
  std::vector<LayerGradient> gradients;
  for (std::size_t i = 0; i < model.names().layers.size(); ++i) {
    const LayerViews::Affine inner = layer_views(model, observation.update.tensors, i).inner;
    LayerGradient gradient{inner.weight.contiguous(), inner.bias.contiguous()};
    if (protocol.kind != UpdateKind::gradient)
      gradient = {(gradient.weight * sign).contiguous(), (gradient.bias * sign).contiguous()};
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

float least_jump(double disguise) {
  return static_cast<float>(std::max(1e-5, 0.1 * disguise));
}

DifferenceRows divided_differences(const std::vector<LayerGradient>& gradients, float least) {
  const std::int64_t f = gradients.front().weight.size(0), d = gradients.front().weight.size(1);
  // The last row of a layer holds all that lies above it. Layers weigh places differently, so that nothing
  // can be taken off, except in the last one, where nothing lies above.
  const auto rows_of = [&](std::size_t layer) { return layer + 1 < gradients.size() ? f - 1 : f; };
  const auto jump = [&](std::size_t layer, std::int64_t j) {
    const float* bias = gradients[layer].bias.data_ptr<float>();
    return bias[j] - (j + 1 < f ? bias[j + 1] : 0);
  };
  float largest = 0;
  for (std::size_t layer = 0; layer < gradients.size(); ++layer)
    for (std::int64_t j = 0; j < rows_of(layer); ++j) largest = std::max(largest, std::abs(jump(layer, j)));

  DifferenceRows found;
  found.rows.cols = d;
  std::vector<float> row(at(d));
  for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
    const float* weight = gradients[layer].weight.data_ptr<float>();
    for (std::int64_t j = 0; j < rows_of(layer); ++j) {
      const float lambda = jump(layer, j);
      if (lambda == 0 || std::abs(lambda) < least * largest) continue;
      const float *from = weight + j * d, *next = j + 1 < f ? from + d : nullptr;
      for (std::int64_t k = 0; k < d; ++k) row[at(k)] = (from[k] - (next ? next[k] : 0)) / lambda;
      if (shown_before(found.rows, row.data())) continue;
      found.rows.data.insert(found.rows.data.end(), row.begin(), row.end());
      ++found.rows.rows;
      found.weight.push_back(lambda);
      found.pure.push_back(has_length_of_one(row.data(), d));
    }
  }
  return found;
}

}  // namespace undertext
