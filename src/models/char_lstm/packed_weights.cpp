#include "models/char_lstm/packed_weights.h"

#include <algorithm>

namespace undertext {
namespace {

const float* data(const NamedTensors& parameters, const std::string& name) {
  return parameters.at(name).data_ptr<float>();
}

// A weight (4U, n) with its rows in the order of gate blocks; zeros beyond its units and columns.
class GateRows {
 public:
  GateRows(const float* weight, std::int64_t units, std::int64_t n) : weight_(weight), units_(units), n_(n) {}
  float operator()(std::int64_t place, std::int64_t column) const {
    const std::int64_t unit = place / kPanel * kLanes + place % kLanes, gate = place % kPanel / kLanes;
    return unit < units_ && column < n_ ? weight_[(gate * units_ + unit) * n_ + column] : 0.0f;
  }

 private:
  const float* weight_;
  std::int64_t units_, n_;
};

}  // namespace

void PackedWeights::pack(const CharLstmConfig& config, const CharLstmNames& names,
                         const NamedTensors& parameters, bool way_back) {
  const std::int64_t v = config.vocabulary, e = config.embedding, u = config.units;
  characters = v;
  vocabulary = padded(v);
  embedding = padded(e);
  units = padded(u);
  layers.resize(static_cast<std::size_t>(config.layers));
  for (std::int64_t l = 0; l < config.layers; ++l)
    pack_layer(config, names.layers[static_cast<std::size_t>(l)], parameters, l, way_back);

  const float* weight = data(parameters, names.output_weight);
  const auto output = [=](std::int64_t token, std::int64_t unit) {
    return token < v && unit < u ? weight[token * u + unit] : 0.0f;
  };
  decoder.pack(units, vocabulary, [&](std::int64_t k, std::int64_t j) { return output(j, k); });
  if (way_back) decoder_back.pack(vocabulary, units, output);
  decoder_bias_ = decoder_bias_buffer_.floats(vocabulary);
  std::fill_n(decoder_bias_, vocabulary, 0.0f);
  std::copy_n(data(parameters, names.output_bias), v, decoder_bias_);

  embedding_ = embedding_buffer_.floats(v * embedding);
  std::fill_n(embedding_, v * embedding, 0.0f);
  const float* table = data(parameters, names.embedding);
  for (std::int64_t token = 0; token < v; ++token)
    std::copy_n(table + token * e, e, embedding_ + token * embedding);
  token_gates_ = token_gates_buffer_.floats(v * 4 * units);
  product(v, embedding_, embedding, layers[0].input, token_gates_, 4 * units, layers[0].bias);
}

void PackedWeights::pack_layer(const CharLstmConfig& config, const LstmLayerNames& names,
                               const NamedTensors& parameters, std::int64_t l, bool way_back) {
  PackedLayer& layer = layers[static_cast<std::size_t>(l)];
  layer.inputs = padded(config.inputs(l));
  const GateRows input(data(parameters, names.weight_ih), config.units, config.inputs(l));
  const GateRows recurrent(data(parameters, names.weight_hh), config.units, config.units);
  layer.input.pack(layer.inputs, 4 * units, [&](std::int64_t k, std::int64_t j) { return input(j, k); });
  layer.recurrent.pack(units, 4 * units, [&](std::int64_t k, std::int64_t j) { return recurrent(j, k); });
  if (way_back) {
    layer.input_back.pack(4 * units, layer.inputs, input);
    layer.recurrent_back.pack(4 * units, units, recurrent);
  }
  layer.bias = layer.bias_buffer.floats(4 * units);
  const GateRows bias_ih(data(parameters, names.bias_ih), config.units, 1),
      bias_hh(data(parameters, names.bias_hh), config.units, 1);
  for (std::int64_t place = 0; place < 4 * units; ++place)
    layer.bias[place] = bias_ih(place, 0) + bias_hh(place, 0);
}

}  // namespace undertext
