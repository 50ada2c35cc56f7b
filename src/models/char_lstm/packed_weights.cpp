#include "models/char_lstm/packed_weights.h"

#include <algorithm>

namespace undertext {
namespace {

const float* data(const NamedTensors& parameters, const std::string& name) {
  return parameters.at(name).data_ptr<float>();
}

// Row q U + j of a weight (4U, n) by the place of gate q of unit j in the panels; null: beyond the units.
const float* gate_row(const float* weight, std::int64_t units, std::int64_t n, std::int64_t place) {
  const std::int64_t unit = place / kPanel * kLanes + place % kLanes, gate = place % kPanel / kLanes;
  return unit < units ? weight + (gate * units + unit) * n : nullptr;
}

}  // namespace

void PackedWeights::pack(const CharLstmConfig& config, const CharLstmNames& names,
                         const NamedTensors& parameters, bool way_back) {
  const std::int64_t v = config.vocabulary, e = config.embedding, u = config.units;
  characters = v;
  vocabulary = padded(v);
  embedding = padded(e);
  units = padded(u);
  if (units % 1024 == 0) units += kLanes;  // rows 4 KB apart would fight for the same lines of the cache
  layers.resize(static_cast<std::size_t>(config.layers));
  for (std::int64_t l = 0; l < config.layers; ++l)
    pack_layer(config, names.layers[static_cast<std::size_t>(l)], parameters, l, way_back);

  const float* weight = data(parameters, names.output_weight);
  const Panels::Row output = [=](std::int64_t token) { return token < v ? weight + token * u : nullptr; };
  decoder.pack_transposed(units, vocabulary, u, output);
  if (way_back) decoder_back.pack(vocabulary, units, u, output);
  decoder_bias_ = decoder_bias_buffer_.floats(vocabulary);
  std::fill_n(decoder_bias_, vocabulary, 0.0f);
  std::copy_n(data(parameters, names.output_bias), v, decoder_bias_);

  embedding_ = embedding_buffer_.floats(v * embedding);
  std::fill_n(embedding_, v * embedding, 0.0f);
  const float* table = data(parameters, names.embedding);
  for (std::int64_t token = 0; token < v; ++token)
    std::copy_n(table + token * e, e, embedding_ + token * embedding);
  token_gates_ = token_gates_buffer_.floats(v * 4 * units);
  product(v, rows_of(embedding_, embedding), layers[0].input, token_gates_, 4 * units, layers[0].bias);
}

void PackedWeights::pack_layer(const CharLstmConfig& config, const LstmLayerNames& names,
                               const NamedTensors& parameters, std::int64_t l, bool way_back) {
  PackedLayer& layer = layers[static_cast<std::size_t>(l)];
  const std::int64_t u = config.units, n = config.inputs(l);
  layer.inputs = l == 0 ? embedding : units;
  const float* weight_ih = data(parameters, names.weight_ih);
  const float* weight_hh = data(parameters, names.weight_hh);
  const Panels::Row input = [=](std::int64_t place) { return gate_row(weight_ih, u, n, place); };
  const Panels::Row recurrent = [=](std::int64_t place) { return gate_row(weight_hh, u, u, place); };
  layer.input.pack_transposed(layer.inputs, 4 * units, n, input);
  layer.recurrent.pack_transposed(units, 4 * units, u, recurrent);
  if (way_back) {
    layer.input_back.pack(4 * units, layer.inputs, n, input);
    layer.recurrent_back.pack(4 * units, units, u, recurrent);
  }
  layer.bias = layer.bias_buffer.floats(4 * units);
  const float* bias_ih = data(parameters, names.bias_ih);
  const float* bias_hh = data(parameters, names.bias_hh);
  for (std::int64_t place = 0; place < 4 * units; ++place) {
    const float* ih = gate_row(bias_ih, u, 1, place);
    const float* hh = gate_row(bias_hh, u, 1, place);
    layer.bias[place] = ih ? *ih + *hh : 0.0f;
  }
}

}  // namespace undertext
