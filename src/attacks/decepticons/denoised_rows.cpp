#include "attacks/decepticons/denoised_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/quantile.h"

namespace undertext {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// A layer's gradient, weight and bias beside each other, as sums over the rows before each: (F + 1, D + 1).
class Steps {
 public:
  explicit Steps(const LayerGradient& gradient)
      : width_(gradient.weight.size(1) + 1), sums_(gradient.weight.size(0) + 1, width_) {
    const float *weight = gradient.weight.data_ptr<float>(), *bias = gradient.bias.data_ptr<float>();
    for (std::int64_t j = 0; j + 1 < sums_.rows; ++j)
      for (std::int64_t k = 0; k < width_; ++k)
        sums_(j + 1, k) = sums_(j, k) + (k + 1 < width_ ? weight[j * (width_ - 1) + k] : bias[j]);
  }

  std::int64_t rows() const { return sums_.rows - 1; }
  std::vector<double> mean(std::int64_t first, std::int64_t last) const {
    std::vector<double> values(at(width_));
    for (std::int64_t k = 0; k < width_; ++k)
      values[at(k)] = (sums_(last, k) - sums_(first, k)) / static_cast<double>(last - first);
    return values;
  }
  // The place of a jump in [first, last) that explains most of the squares there, and how much.
  std::pair<double, std::int64_t> best_jump(std::int64_t first, std::int64_t last) const {
    std::pair<double, std::int64_t> best{0, first};
    const double *from = sums_.row(first), *to = sums_.row(last);
    for (std::int64_t j = first + 1; j < last; ++j) {
      const auto left = static_cast<double>(j - first), right = static_cast<double>(last - j);
      const double* here = sums_.row(j);
      double gain = 0;  // n1 n2 / (n1 + n2) |mean1 - mean2|^2
      for (std::int64_t k = 0; k < width_; ++k) {
        const double gap = (here[k] - from[k]) / left - (to[k] - here[k]) / right;
        gain += gap * gap;
      }
      gain *= left * right / (left + right);
      if (gain > best.first) best = {gain, j};
    }
    return best;
  }

 private:
  std::int64_t width_;
  Matrix<double> sums_;
};

struct Jump {
  double gain;
  std::size_t layer;
  std::int64_t first, place, last;
  bool operator<(const Jump& other) const { return gain < other.gain; }
};

// Where each layer's rows jump, ascending, between 0 and F.
std::vector<std::vector<std::int64_t>> find_jumps(const std::vector<Steps>& layers, double least,
                                                  std::int64_t most) {
  std::priority_queue<Jump> best;
  const auto look = [&](std::size_t layer, std::int64_t first, std::int64_t last) {
    const auto [gain, place] = layers[layer].best_jump(first, last);
    if (gain > least) best.push({gain, layer, first, place, last});
  };
  std::vector<std::vector<std::int64_t>> places(layers.size());
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    places[layer] = {0, layers[layer].rows()};
    look(layer, 0, layers[layer].rows());
  }
  for (; most > 0 && !best.empty(); --most) {
    const Jump jump = best.top();
    best.pop();
    places[jump.layer].push_back(jump.place);
    look(jump.layer, jump.first, jump.place);
    look(jump.layer, jump.place, jump.last);
  }
  // Each once more between its neighbours, which were not known when it was found.
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::ranges::sort(places[layer]);
    for (std::size_t i = 1; i + 1 < places[layer].size(); ++i)
      places[layer][i] = layers[layer].best_jump(places[layer][i - 1], places[layer][i + 1]).second;
  }
  return places;
}

}  // namespace

double noise_of(const std::vector<LayerGradient>& gradients, float least) {
  constexpr double kEmpty = 0.02;  // least share of bins that are empty where there is no noise
  std::vector<double> jumps;
  for (const LayerGradient& gradient : gradients) {
    const float* bias = gradient.bias.data_ptr<float>();
    for (std::int64_t j = 0; j + 1 < gradient.bias.size(0); ++j)
      jumps.push_back(std::abs(bias[j] - bias[j + 1]));
  }
  if (jumps.empty()) return 0;
  const double largest = *std::ranges::max_element(jumps);
  const auto empty = std::ranges::count_if(jumps, [&](double jump) { return jump <= least * largest; });
  if (static_cast<double>(empty) >= kEmpty * static_cast<double>(jumps.size())) return 0;
  // The quietest quarter of the differences hold noise alone, twice.
  std::vector<double> squares;
  for (const LayerGradient& gradient : gradients) {
    const at::Tensor gaps = gradient.weight.slice(0, 0, -1) - gradient.weight.slice(0, 1);
    const at::Tensor means = gaps.square().mean(1).to(at::kDouble).contiguous();
    squares.insert(squares.end(), means.data_ptr<double>(), means.data_ptr<double>() + means.numel());
  }
  return std::sqrt(quantile(squares, 0.25) / 2);
}

DifferenceRows denoised_differences(const std::vector<LayerGradient>& gradients, double noise,
                                    std::int64_t most) {
  const std::int64_t d = gradients.front().weight.size(1);
  const std::vector<Steps> layers(gradients.begin(), gradients.end());
  // What the best of all places explains of noise alone, but for one time in twenty (Laurent and Massart
  // 2000, lemma 1).
  const auto numbers = static_cast<double>(d + 1);
  const double x = std::log(static_cast<double>(layers.size()) * static_cast<double>(layers[0].rows())) + 3;
  const double least = noise * noise * (numbers + 2 * std::sqrt(numbers * x) + 2 * x);

  DifferenceRows found;
  found.rows.cols = d;
  const auto add = [&](const std::vector<double>& jump) {
    double squares = 0;
    for (std::int64_t k = 0; k < d; ++k) squares += jump[at(k)] * jump[at(k)];
    // Inputs have a mean square of 1, which says more of the weight's size than one noisy bias.
    const double size = std::sqrt(squares / static_cast<double>(d));
    const double lambda = jump.back() < 0 ? -size : size;
    if (!(size > 0)) return;
    for (std::int64_t k = 0; k < d; ++k) found.rows.data.push_back(static_cast<float>(jump[at(k)] / lambda));
    found.weight.push_back(static_cast<float>(lambda));
    found.pure.push_back(0);
    ++found.rows.rows;
  };
  const std::vector<std::vector<std::int64_t>> places = find_jumps(layers, least, most);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::vector<double> before;
    for (std::size_t i = 0; i + 1 < places[layer].size(); ++i) {
      const std::vector<double> here = layers[layer].mean(places[layer][i], places[layer][i + 1]);
      std::vector<double> jump = before;
      for (std::size_t k = 0; k < jump.size(); ++k) jump[k] -= here[k];
      if (!jump.empty()) add(jump);
      before = here;
    }
  }
  return found;
}

Observation without_noise(const Transformer& model, const Observation& observation, double noise) {
  Observation clean = observation;
  const TransformerNames& names = model.names();
  const double size = observation.update.protocol.kind == UpdateKind::delta
                          ? noise * observation.update.protocol.learning_rate
                          : noise;
  constexpr double kDeviations = 4.5;  // of one number among a vocabulary of them
  if (const auto bias = clean.update.tensors.find(names.output_bias); bias != clean.update.tensors.end())
    bias->second =
        at::where(bias->second.abs() > kDeviations * size, bias->second, at::zeros_like(bias->second));
  const auto embedding = clean.update.tensors.find(names.token_embedding);
  if (embedding != clean.update.tensors.end() && names.token_embedding != names.output_weight) {
    const auto d = static_cast<double>(embedding->second.size(1));
    const double least = size * std::sqrt(d + kDeviations * std::sqrt(2 * d));
    embedding->second = embedding->second * (embedding->second.norm(2, 1, true) > least);
  }
  return clean;
}

}  // namespace undertext
