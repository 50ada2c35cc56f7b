#include "attacks/decepticons/exact_layout.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attacks/decepticons/layer_views.h"
#include "base/error.h"

namespace undertext {
namespace {

// rows (n, D) times a probe (D), in double.
std::vector<double> products(const at::Tensor& rows, const at::Tensor& probe) {
  const at::Tensor result = at::mv(rows.to(at::kDouble), probe.to(at::kDouble)).contiguous();
  const double* values = result.data_ptr<double>();
  return {values, values + result.numel()};
}

Matrix<float> matrix_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kFloat).contiguous();
  Matrix<float> matrix(plain.size(0), plain.size(1));
  std::copy_n(plain.data_ptr<float>(), plain.numel(), matrix.data.begin());
  return matrix;
}

}  // namespace

ExactBlocks ExactBlocks::of(const TransformerConfig& config) {
  ExactBlocks blocks;
  blocks.width = config.width;
  blocks.code = std::clamp<std::int64_t>(config.width * 3 / 32, 4, 32);
  blocks.positions = std::clamp<std::int64_t>(config.width / 3, 10, 128);
  if (blocks.tokens() < 16)
    fail("a width of {} has no room for sentence codes, places and tokens, expected at least 32",
         config.width);
  return blocks;
}

std::int64_t measuring_layers(const TransformerConfig& config) {
  return config.masked() ? config.layers - 1 : config.layers;
}

double bare_deviation(const TransformerConfig& config) {
  return std::sqrt(2 * kRowLength * kRowLength / static_cast<double>(config.width) + config.norm_epsilon);
}

ExactState::ExactState(const Transformer& model, const DecepticonKey& key, std::vector<Token> ids,
                       std::int64_t length)
    : ids_(std::move(ids)),
      length_(length),
      norm_epsilon_(model.config().norm_epsilon),
      norm_first_(model.config().norm_first),
      predicts_next_(!model.config().masked()) {
  const TransformerConfig& config = model.config();
  blocks_ = {config.width, key.code, key.positions};
  window_ = config.causal ? key.window : 1;
  const NamedTensors& parameters = model.parameters();
  const at::Tensor index =
      at::from_blob(const_cast<Token*>(ids_.data()), {static_cast<std::int64_t>(ids_.size())},
                    sizeof(Token) == 4 ? at::kInt : at::kLong)
          .to(at::kLong);
  const at::Tensor embedding = parameters.at(model.names().token_embedding);
  const at::Tensor tokens = embedding.index_select(0, index);
  const at::Tensor places = parameters.at(model.names().position_embedding).narrow(0, 0, length);
  token_rows_ = matrix_of(tokens.narrow(1, blocks_.first_token(), blocks_.tokens()));
  position_rows_ = matrix_of(places.narrow(1, blocks_.first_position(), blocks_.positions));

  // A model whose norms come first reads the code's tokens through one.
  const at::Tensor value = layer_views(model, parameters, 0).value.weight.narrow(0, 0, blocks_.code);
  const double read_through = config.norm_first ? bare_deviation(config) : 1;
  const at::Tensor codes =
      at::mm(tokens.to(at::kDouble), value.t().to(at::kDouble)).div_(read_through).contiguous();
  token_codes_ = Matrix<double>(codes.size(0), codes.size(1));
  std::copy_n(codes.data_ptr<double>(), codes.numel(), token_codes_.data.begin());

  const std::int64_t layers = measuring_layers(config);
  probes_code_ = Matrix<double>(layers, blocks_.code);
  for (std::int64_t l = 0; l < layers; ++l) {
    const LayerViews views = layer_views(model, parameters, static_cast<std::size_t>(l));
    // All rows of a layer are the probe, times the scale of the measurement, but for a disguise.
    const at::Tensor probe = views.inner.weight.to(at::kDouble).mean(0).div_(key.scale);
    measured_token_.push_back(products(tokens, probe));
    measured_position_.push_back(products(places, probe));
    for (std::int64_t j = 0; j < blocks_.code; ++j) probes_code_(l, j) = probe[j].item<double>();
    const at::Tensor bias = views.inner.bias.to(at::kDouble).div(-key.scale).contiguous();
    const double* edges = bias.data_ptr<double>();
    edges_.emplace_back(edges, edges + bias.numel());
    // Norms after the sum divide again, by a little more than one, twice a layer.
    const double again = config.norm_first ? 0 : 2 * static_cast<double>(l);
    shrinkage_.push_back(std::pow(1 + norm_epsilon_, -0.5 * again));
  }
  const at::Tensor weights =
      parameters.at(model.names().output_weight).select(1, blocks_.tail()).to(at::kDouble).contiguous();
  const double* values = weights.data_ptr<double>();
  label_weight_.assign(values, values + weights.numel());
  mean_label_weight_ = weights.mean().item<double>();
}

double ExactState::deviation(const double* code) const {
  double squares = 2 * kRowLength * kRowLength;
  for (std::int64_t j = 0; j < blocks_.code; ++j) squares += code[j] * code[j];
  return std::sqrt(squares / static_cast<double>(blocks_.width) + norm_epsilon_);
}

double ExactState::measured_code(std::int64_t layer, const double* code) const {
  double sum = 0;
  for (std::int64_t j = 0; j < blocks_.code; ++j) sum += probes_code_(layer, j) * code[j];
  return sum;
}

std::int64_t ExactState::bin_of(std::int64_t layer, double measurement) const {
  const std::vector<double>& edges = edges_[static_cast<std::size_t>(layer)];
  return std::upper_bound(edges.begin(), edges.end(), measurement) - edges.begin() - 1;
}

double ExactState::high(std::int64_t layer, std::int64_t bin) const {
  const std::vector<double>& edges = edges_[static_cast<std::size_t>(layer)];
  const auto next = static_cast<std::size_t>(bin) + 1;
  return next < edges.size() ? edges[next] : std::numeric_limits<double>::infinity();
}

}  // namespace undertext
