#include "models/char_lstm/gradient_sums.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "models/gemm.h"

namespace undertext {
namespace {

// Rows of a sum that are worked on at a time: all of the paper's smallest model, so that its products stay
// large, and parts enough for a few threads of the larger ones.
constexpr std::int64_t kRows = 1024;

// sum (rows, columns) += a' b over n rows of a and b.
void add_outer(const float* a, std::int64_t lda, const float* b, std::int64_t ldb, std::int64_t n,
               std::int64_t rows, std::int64_t columns, float* sum) {
  gemm(CblasTrans, CblasNoTrans, rows, columns, n, 1, a, lda, b, ldb, 1, sum, columns);
}

// sums[j] += sum over rows of x[row][j]: eight rows at a time in float32, these in double.
void add_columns(const float* x, std::int64_t rows, std::int64_t stride, std::vector<double>& sums) {
  const auto n = static_cast<std::int64_t>(sums.size());
  std::int64_t r = 0;
  for (; r + 8 <= rows; r += 8) {
    const float* __restrict y = x + r * stride;
    for (std::int64_t j = 0; j < n; ++j) {
      const float a = (y[j] + y[j + stride]) + (y[j + 2 * stride] + y[j + 3 * stride]);
      const float b = (y[j + 4 * stride] + y[j + 5 * stride]) + (y[j + 6 * stride] + y[j + 7 * stride]);
      sums[j] += static_cast<double>(a) + static_cast<double>(b);
    }
  }
  for (; r < rows; ++r)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += x[r * stride + j];
}

// table[token of a row] += that row of x.
void add_by_token(const float* x, std::span<const Token> token, std::int64_t width, float* table) {
  for (std::size_t r = 0; r < token.size(); ++r) {
    const float* __restrict from = x + static_cast<std::int64_t>(r) * width;
    float* __restrict to = table + token[r] * width;
    for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
  }
}

std::vector<float> zeros(std::int64_t n) {
  return std::vector<float>(static_cast<std::size_t>(n), 0.0f);
}

}  // namespace

GradientSums::GradientSums(const CharLstmConfig& config, const CharLstmNames& names,
                           const PackedWeights& weights, const NamedTensors& gradient)
    : config_(config), names_(names), weights_(weights), layers_(names.layers.size()) {
  const std::int64_t u = weights.units, v = config.vocabulary;
  embedding_ = gradient.contains(names.embedding);
  first_input_ = gradient.contains(names.layers[0].weight_ih);
  for (std::size_t l = 0; l < layers_.size(); ++l) want_layer(l, gradient);
  if (embedding_ || first_input_) {
    token_gates_ = zeros(v * 4 * u);
    token_embedding_ = zeros(v * weights.embedding);
    parts_.push_back([this, u](const PassGradient& p) {
      const std::vector<Token>& token = p.pass->rows().token;
      if (!p.pass->inputs(0))
        add_by_token(p.pass->gates(0), token, 4 * u, token_gates_.data());
      else if (embedding_)
        add_by_token(p.d_embedding, token, weights_.embedding, token_embedding_.data());
    });
  }
  if (gradient.contains(names.output_weight)) {
    decoder_ = zeros(v * u);
    parts_.push_back([this, u, v](const PassGradient& p) {
      add_outer(p.d_logits, weights_.vocabulary, p.out, u, p.pass->rows().rows(), v, u, decoder_.data());
    });
  }
  if (gradient.contains(names.output_bias)) {
    decoder_bias_.assign(static_cast<std::size_t>(v), 0.0);
    parts_.push_back([this](const PassGradient& p) {
      add_columns(p.d_logits, p.pass->rows().rows(), weights_.vocabulary, decoder_bias_);
    });
  }
}

void GradientSums::want_layer(std::size_t l, const NamedTensors& gradient) {
  const LstmLayerNames& names = names_.layers[l];
  LayerSums& sums = layers_[l];
  const std::int64_t u = weights_.units, inputs = weights_.layers[l].inputs;
  const bool input = gradient.contains(names.weight_ih), recurrent = gradient.contains(names.weight_hh);
  if (input) sums.input = zeros(4 * u * inputs);
  if (recurrent) sums.recurrent = zeros(4 * u * u);
  for (std::int64_t from = 0; from < 4 * u; from += kRows) {
    const std::int64_t rows = std::min(kRows, 4 * u - from);
    if (input)
      parts_.push_back([=, &sums](const PassGradient& p) {
        if (const float* x = p.pass->inputs(l))
          add_outer(p.pass->gates(l) + from, 4 * u, x, inputs, p.pass->rows().rows(), rows, inputs,
                    sums.input.data() + from * inputs);
      });
    if (recurrent)
      parts_.push_back([=, &sums](const PassGradient& p) {
        add_outer(p.pass->gates(l) + from, 4 * u, p.pass->h_before(l), u, p.pass->rows().rows(), rows, u,
                  sums.recurrent.data() + from * u);
      });
  }
  if (!gradient.contains(names.bias_ih) && !gradient.contains(names.bias_hh)) return;
  sums.bias.assign(static_cast<std::size_t>(4 * u), 0.0);
  parts_.push_back([=, &sums](const PassGradient& p) {
    add_columns(p.pass->gates(l), p.pass->rows().rows(), 4 * u, sums.bias);
  });
}

// The gates' gradients were summed by token: one product for each of the few tokens is all that is left.
void GradientSums::finish_tokens() {
  const std::int64_t v = config_.vocabulary, u = weights_.units, e = weights_.embedding;
  if (first_input_)
    add_outer(token_gates_.data(), 4 * u, weights_.token_embedding(0), e, v, 4 * u, e,
              layers_[0].input.data());
  if (!embedding_) return;
  Buffer buffer;
  float* d = buffer.floats(v * e);
  product(v, token_gates_.data(), 4 * u, weights_.layers[0].input_back, d, e);
  for (std::int64_t i = 0; i < v * e; ++i) token_embedding_[static_cast<std::size_t>(i)] += d[i];
}

// sum: (4U, width) by gate_place; to: (4U, columns), gate by gate.
void GradientSums::add_gates(const std::vector<float>& sum, std::int64_t width, std::int64_t columns,
                             double scale, at::Tensor& to) const {
  const auto factor = static_cast<float>(scale);
  float* out = to.data_ptr<float>();
  for (std::int64_t gate = 0; gate < 4; ++gate)
    for (std::int64_t unit = 0; unit < config_.units; ++unit, out += columns) {
      const float* row = sum.data() + gate_place(gate, unit) * width;
      for (std::int64_t j = 0; j < columns; ++j) out[j] += factor * row[j];
    }
}

void GradientSums::finish(double scale, NamedTensors& gradient) {
  const std::int64_t u = weights_.units, v = config_.vocabulary;
  const auto factor = static_cast<float>(scale);
  if (embedding_ || first_input_) finish_tokens();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const LstmLayerNames& names = names_.layers[l];
    const std::vector<float> bias(layers_[l].bias.begin(), layers_[l].bias.end());
    if (!layers_[l].input.empty())
      add_gates(layers_[l].input, weights_.layers[l].inputs, config_.inputs(static_cast<std::int64_t>(l)),
                scale, gradient.at(names.weight_ih));
    if (!layers_[l].recurrent.empty())
      add_gates(layers_[l].recurrent, u, config_.units, scale, gradient.at(names.weight_hh));
    for (const std::string& name : {names.bias_ih, names.bias_hh})
      if (gradient.contains(name)) add_gates(bias, 1, 1, scale, gradient.at(name));
  }
  const auto add_rows = [&](const std::vector<float>& sum, std::int64_t width, at::Tensor& to) {
    float* out = to.data_ptr<float>();
    for (std::int64_t token = 0; token < v; ++token)
      for (std::int64_t j = 0; j < to.size(1); ++j) *out++ += factor * sum[token * width + j];
  };
  if (embedding_) add_rows(token_embedding_, weights_.embedding, gradient.at(names_.embedding));
  if (!decoder_.empty()) add_rows(decoder_, u, gradient.at(names_.output_weight));
  if (decoder_bias_.empty()) return;
  float* bias = gradient.at(names_.output_bias).data_ptr<float>();
  for (std::int64_t j = 0; j < v; ++j) bias[j] = static_cast<float>(bias[j] + scale * decoder_bias_[j]);
}

}  // namespace undertext
