#include "models/char_lstm/gradient_sums.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "models/gemm.h"

namespace undertext {
namespace {

// Panels of a sum that are worked on at a time: all of the paper's smallest model, so that what they read is
// read once, and parts enough for a few threads of the larger ones.
constexpr std::int64_t kPanelsPerPart = 16;

float* zeros(Buffer& buffer, std::int64_t n) {
  float* data = buffer.floats(n);
  std::fill_n(data, n, 0.0f);
  return data;
}

// table[token of a row] += that row of x.
void add_by_token(const float* x, std::span<const Token> token, std::int64_t width, float* table) {
  for (std::size_t r = 0; r < token.size(); ++r) {
    const float* __restrict from = x + static_cast<std::int64_t>(r) * width;
    float* __restrict to = table + token[r] * width;
    for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
  }
}

// to (4U, columns), gate by gate, += scale times what add_outer() left of `width` columns.
void add_gates(const float* sum, std::int64_t width, std::int64_t units, std::int64_t columns, float scale,
               float* to) {
  for (std::int64_t gate = 0; gate < 4; ++gate)
    for (std::int64_t unit = 0; unit < units; ++unit, to += columns) {
      const float* row = sum + (unit / kLanes * kPanel + gate * kLanes + unit % kLanes) * width;
      for (std::int64_t j = 0; j < columns; ++j) to[j] += scale * row[j];
    }
}

// to (rows, columns) += scale times the same of x, rows `width` apart.
void add_rows(const float* x, std::int64_t width, std::int64_t rows, std::int64_t columns, float scale,
              float* to) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j) to[r * columns + j] += scale * x[r * width + j];
}

}  // namespace

GradientSums::GradientSums(const CharLstmConfig& config, const CharLstmNames& names,
                           const PackedWeights& weights, const NamedTensors& gradient,
                           GradientWorkspace& workspace)
    : config_(config), names_(names), weights_(weights), gradient_(gradient), work_(workspace) {
  work_.layers.resize(names.layers.size());
  for (std::size_t l = 0; l < work_.layers.size(); ++l) want_layer(l);
  if (wants(names.embedding) || wants(names.layers[0].weight_ih)) want_tokens();
  want_decoder();
}

void GradientSums::want_layer(std::size_t l) {
  const LstmLayerNames& names = names_.layers[l];
  LayerSums& sums = work_.layers[l];
  const std::int64_t u = weights_.units, inputs = weights_.layers[l].inputs, panels = u / kLanes;
  float* input = wants(names.weight_ih) ? zeros(sums.input, 4 * u * inputs) : nullptr;
  // The bias is summed on the way of the recurrent weight, which then goes there even if nobody else asks.
  const bool with_bias = wants(names.bias_ih) || wants(names.bias_hh);
  float* recurrent = wants(names.weight_hh) || with_bias ? zeros(sums.recurrent, 4 * u * u) : nullptr;
  sums.bias.assign(static_cast<std::size_t>(4 * u), 0.0);
  double* bias = with_bias ? sums.bias.data() : nullptr;
  for (std::int64_t from = 0; from < panels; from += kPanelsPerPart) {
    const std::int64_t to = std::min(panels, from + kPanelsPerPart);
    if (input)
      parts_.emplace_back([=](const PassGradient& p) {
        if (const float* x = p.pass->inputs(l))
          add_outer(p.pass->gates(l), from, to, x, inputs, inputs, input + from * kPanel * inputs);
      });
    if (recurrent)
      parts_.emplace_back([=](const PassGradient& p) {
        add_outer(p.pass->gates(l), from, to, p.pass->h_before(l), u, u, recurrent + from * kPanel * u,
                  bias ? bias + from * kPanel : nullptr);
      });
  }
}

void GradientSums::want_tokens() {
  const std::int64_t u = weights_.units, v = config_.vocabulary, e = weights_.embedding;
  const Gates gates{zeros(work_.token_gates, v * 4 * u), v};
  float* embedding = zeros(work_.token_embedding, v * e);
  const bool with_embedding = wants_embedding();
  parts_.emplace_back([=](const PassGradient& p) {
    const std::vector<Token>& token = p.pass->rows().token;
    if (!p.pass->inputs(0)) {
      for (std::int64_t panel = 0; panel < u / kLanes; ++panel)
        add_by_token(p.pass->gates(0).at(panel, 0), token, kPanel, gates.at(panel, 0));
    } else if (with_embedding) {
      add_by_token(p.d_embedding, token, e, embedding);
    }
  });
}

void GradientSums::want_decoder() {
  const std::int64_t u = weights_.units, v = weights_.vocabulary, characters = config_.vocabulary;
  if (wants(names_.output_weight))
    parts_.emplace_back([=, sum = zeros(work_.decoder, characters * u)](const PassGradient& p) {
      gemm(CblasTrans, CblasNoTrans, characters, u, p.pass->rows().rows(), 1, p.d_logits, v, p.out, u, 1, sum,
           u);
    });
  if (!wants(names_.output_bias)) return;
  work_.decoder_bias.assign(static_cast<std::size_t>(characters), 0.0);
  parts_.emplace_back([=, sum = work_.decoder_bias.data()](const PassGradient& p) {
    add_columns(p.d_logits, p.pass->rows().rows(), v, characters, sum);
  });
}

// The gates' gradients were summed by token: one product for each of the few tokens is all that is left.
void GradientSums::finish_tokens() {
  const std::int64_t v = config_.vocabulary, u = weights_.units, e = weights_.embedding;
  const Gates gates{work_.token_gates.floats(v * 4 * u), v};
  if (wants(names_.layers[0].weight_ih))
    add_outer(gates, 0, u / kLanes, weights_.token_embedding(0), e, e,
              work_.layers[0].input.floats(4 * u * e));
  if (!wants_embedding()) return;
  float* embedding = work_.token_embedding.floats(v * e);
  const Panels& back = weights_.layers[0].input_back;
  for (std::int64_t panel = 0; panel < back.panels(); ++panel)
    add_product(v, gates.from(0), back, panel, embedding + panel * kPanel, e);
}

void GradientSums::finish(double scale) {
  const std::int64_t u = weights_.units, v = config_.vocabulary, units = config_.units;
  const auto factor = static_cast<float>(scale);
  if (wants_embedding() || wants(names_.layers[0].weight_ih)) finish_tokens();
  for (std::size_t l = 0; l < work_.layers.size(); ++l) {
    const LstmLayerNames& names = names_.layers[l];
    LayerSums& sums = work_.layers[l];
    const std::int64_t inputs = config_.inputs(static_cast<std::int64_t>(l)),
                       width = weights_.layers[l].inputs;
    if (wants(names.weight_ih))
      add_gates(sums.input.floats(4 * u * width), width, units, inputs, factor, data(names.weight_ih));
    if (wants(names.weight_hh))
      add_gates(sums.recurrent.floats(4 * u * u), u, units, units, factor, data(names.weight_hh));
    for (const std::string& name : {names.bias_ih, names.bias_hh}) {
      if (!wants(name)) continue;
      const std::vector<float> bias(sums.bias.begin(), sums.bias.end());
      add_gates(bias.data(), 1, units, 1, factor, data(name));
    }
  }
  if (wants_embedding())
    add_rows(work_.token_embedding.floats(v * weights_.embedding), weights_.embedding, v, config_.embedding,
             factor, data(names_.embedding));
  if (wants(names_.output_weight))
    add_rows(work_.decoder.floats(v * u), u, v, units, factor, data(names_.output_weight));
  if (!wants(names_.output_bias)) return;
  float* bias = data(names_.output_bias);
  for (std::int64_t j = 0; j < v; ++j)
    bias[j] = static_cast<float>(bias[j] + scale * work_.decoder_bias[static_cast<std::size_t>(j)]);
}

}  // namespace undertext
