// decepticons, section 3 and appendices A, D and E: the state of --design paper.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "attacks/decepticons/corrupt.h"
#include "attacks/decepticons/edges.h"
#include "attacks/decepticons/first_inputs.h"
#include "attacks/decepticons/sample_sequences.h"
#include "base/error.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

constexpr double kSkew = 1e8;      // of the softmax, towards one place
constexpr double kMaskedMix = 10;  // of the last attention of a masked model (appendix E.1)

constexpr double kFarAbove = 100;  // deviations, as much as a scaled-up mixture may reach

struct Constants {
  std::int64_t code;    // v
  double scale;         // of the measurement: large where the activation is smooth (appendix E.2)
  double feed_forward;  // of the one live output, small so that norms hardly see it (appendix A)
};

Constants constants_of(const TransformerConfig& config) {
  // The first head has to see what it copies and where it copies it to: v = 6 of 12, 32 of 64.
  Constants constants{config.head_width() / 2, 1, 1e-4};
  if (config.kind != TransformerKind::plain || config.activation != Activation::relu)
    constants = {constants.code, config.masked() ? 1e8 : 1e6, 1e-8};
  return constants;
}

void check_room(const TransformerConfig& config, std::int64_t code) {
  if (code < 1 || config.width < 3 * code + 2)
    fail(
        "a width of {} in {} heads has no room for the attack, expected heads of 2 or more and a width of at "
        "least {}",
        config.width, config.heads, 3 * std::max<std::int64_t>(code, 1) + 2);
  if (config.layers < (config.masked() ? 2 : 1))
    fail("{} layers, expected {} or more: one for the sentence code, and for a masked model one more",
         config.layers, config.masked() ? 2 : 1);
}

// mean 0, deviation 1, over sqrt(d - v - 1): a vector of length 1, then scaled.
at::Tensor probe_of(const TransformerConfig& config, const Constants& constants, Seed seed) {
  const std::int64_t n = config.width - constants.code - 1;
  at::Tensor values = at::zeros({n}, at::kFloat);
  add_normal_noise(seed, 1, values.data_ptr<float>(), n);
  values = (values - values.mean()) / values.std() / std::sqrt(static_cast<double>(n)) * constants.scale;
  at::Tensor probe = at::zeros({config.width}, at::kFloat);
  probe.narrow(0, constants.code, n).copy_(values);
  return probe;
}

void set_norm(const NamedTensors& parameters, const std::string& weight, const std::string& bias) {
  if (weight.empty()) return;
  parameters.at(weight).fill_(1);
  parameters.at(bias).zero_();
}

// Norms as they are before training, so that inputs are what the readout takes them for.
void reset_norms(const Transformer& model) {
  const TransformerNames& names = model.names();
  set_norm(model.parameters(), names.embedding_norm_weight, names.embedding_norm_bias);
  for (const LayerNames& layer : names.layers) {
    set_norm(model.parameters(), layer.norm1_weight, layer.norm1_bias);
    set_norm(model.parameters(), layer.norm2_weight, layer.norm2_bias);
  }
  set_norm(model.parameters(), names.final_norm_weight, names.final_norm_bias);
}

// Makes room for the code; position rows all get the same length where the attention compares them.
void set_embeddings(const Transformer& model, std::int64_t code, Seed seed) {
  const TransformerNames& names = model.names();
  at::Tensor tokens = model.parameters().at(names.token_embedding);
  at::Tensor positions = model.parameters().at(names.position_embedding);
  if (model.config()
          .masked()) {  // appendix E.1; as large as positions will be, so that neither hides the other
    tokens.zero_();
    add_normal_noise(seed.derive("tokens"), 1 / std::sqrt(static_cast<float>(code)), tokens.data_ptr<float>(),
                     tokens.numel());
    model.parameters().at(names.type_embedding).zero_();
  }
  tokens.narrow(1, 0, code).zero_();
  positions.narrow(1, 0, code).zero_();
  positions.div_(positions.narrow(1, code, code).norm(2, 1, true).clamp_min(1e-12));
}

// Every place attends to the first one, which it knows by its position, and takes over a part of what is
// there: the sentence code.
void set_code_attention(const Transformer& model, std::int64_t code) {
  const LayerViews layer = layer_views(model, model.parameters(), 0);
  const std::int64_t d = model.config().width;
  at::Tensor first = model.parameters().at(model.names().position_embedding)[0];
  if (!model.names().embedding_norm_weight.empty())
    first = at::layer_norm(first, {d}, {}, {}, model.config().norm_epsilon);
  const at::Tensor part = first.narrow(0, code, code);
  layer.query.weight.zero_();
  layer.query.bias.zero_();
  layer.query.bias.narrow(0, code, code).copy_(part * kSkew);
  layer.key.weight.copy_(at::eye(d));
  layer.key.bias.zero_();
  layer.value.weight.zero_();
  layer.value.weight.narrow(0, 0, code).narrow(1, code, code).copy_(at::eye(code));
  layer.value.bias.zero_();
  layer.value.bias.narrow(0, 0, code).copy_(-part);
  layer.attention.weight.copy_(at::eye(d));
  layer.attention.bias.zero_();
}

// All others say nothing. Of a masked model, where only hidden places have a loss, the last one lets every
// place take part in it.
void set_other_attentions(const Transformer& model) {
  const std::int64_t d = model.config().width;
  const auto layers = static_cast<std::size_t>(model.config().layers);
  for (std::size_t i = 1; i < layers; ++i) {
    const LayerViews layer = layer_views(model, model.parameters(), i);
    layer.attention.weight.zero_();
    layer.attention.bias.zero_();
    if (!model.config().masked() || i + 1 < layers) continue;
    layer.query.weight.zero_();
    layer.query.bias.zero_();
    for (const LayerViews::Affine& part : {layer.key, layer.value}) {
      part.weight.copy_(at::eye(d));
      part.bias.zero_();
    }
    layer.attention.weight.copy_(at::eye(d) * kMaskedMix);
  }
}

// One live output entry, the last, which no probe measures: enough for every row to have a gradient.
void set_feed_forward(const Transformer& model, const at::Tensor& probe, double live,
                      const std::vector<double>& edges) {
  const std::int64_t d = model.config().width, f = model.config().inner;
  for (std::int64_t i = 0; i < model.config().layers; ++i) {
    const LayerViews layer = layer_views(model, model.parameters(), static_cast<std::size_t>(i));
    layer.inner.weight.copy_(probe.unsqueeze(0).expand({f, d}));
    for (std::int64_t j = 0; j < f; ++j) layer.inner.bias[j] = -edges[static_cast<std::size_t>(i * f + j)];
    layer.outer.weight.zero_();
    layer.outer.weight[d - 1].fill_(live / static_cast<double>(f));
    layer.outer.bias.zero_();
  }
}

std::vector<double> edges_of(const Transformer& model, const at::Tensor& probe,
                             const CorruptOptions& options) {
  const std::vector<Sentence> sample = sample_sequences(model, options);
  const Matrix<float> inputs = first_inputs(model, sample);
  const at::Tensor rows =
      at::from_blob(const_cast<float*>(inputs.data.data()), {inputs.rows, inputs.cols}, at::kFloat);
  const at::Tensor measured = at::mv(rows.to(at::kDouble), probe.to(at::kDouble));
  const double deviation = measured.numel() > 1 ? measured.std().item<double>() : 0;
  if (!(deviation > 0)) fail("all measurements of the public texts are equal, expected more or longer texts");
  // The last layer of a masked model sees mixtures: its edges lie above all measurements.
  const std::int64_t apart = model.config().masked() ? model.config().inner : 0;
  const double mean = measured.mean().item<double>();
  std::vector<double> edges =
      normal_edges(mean, deviation, model.config().layers * model.config().inner - apart);
  for (std::int64_t j = 0; j < apart; ++j)
    edges.push_back(mean + deviation * (kFarAbove + static_cast<double>(j) / static_cast<double>(apart)));
  return edges;
}

}  // namespace

void corrupt_as_in_paper(CorruptedState& state, const CorruptOptions& options) {
  const Transformer& model = *state.model;
  const Constants constants = constants_of(model.config());
  check_room(model.config(), constants.code);
  const Seed seed = Seed(options.seed).derive("decepticon");
  state.key.code = constants.code;
  state.key.scale = constants.scale;

  reset_norms(model);
  set_embeddings(model, constants.code, seed);
  set_code_attention(model, constants.code);
  set_other_attentions(model);
  const at::Tensor probe = probe_of(model.config(), constants, seed.derive("probe"));
  set_feed_forward(model, probe, constants.feed_forward, edges_of(model, probe, options));
}

}  // namespace undertext
