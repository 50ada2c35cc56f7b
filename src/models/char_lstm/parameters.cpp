#include "models/char_lstm/parameters.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

namespace undertext {

CharLstmNames::CharLstmNames(const CharLstmConfig& config) {
  const std::int64_t v = config.vocabulary, u = config.units;
  specs.push_back({embedding, {v, config.embedding}});
  for (std::int64_t l = 0; l < config.layers; ++l) {
    const auto name = [l](const char* what) { return fmt::format("lstm.{}_l{}", what, l); };
    const LstmLayerNames& layer = layers.emplace_back(
        LstmLayerNames{name("weight_ih"), name("weight_hh"), name("bias_ih"), name("bias_hh")});
    specs.push_back({layer.weight_ih, {4 * u, config.inputs(l)}});
    specs.push_back({layer.weight_hh, {4 * u, u}});
    specs.push_back({layer.bias_ih, {4 * u}});
    specs.push_back({layer.bias_hh, {4 * u}});
  }
  specs.push_back({output_weight, {v, u}});
  specs.push_back({output_bias, {v}});
}

NamedTensors random_parameters(const CharLstmConfig& config, Seed seed) {
  const CharLstmNames names(config);
  const double range = 1 / std::sqrt(static_cast<double>(config.units));
  NamedTensors parameters;
  for (const WantedTensor& spec : names.specs) {
    at::Tensor tensor = at::zeros(spec.shape, at::kFloat);
    float* values = tensor.data_ptr<float>();
    if (spec.name == names.embedding) {
      add_normal_noise(seed.derive(spec.name), 1, values, tensor.numel());
    } else {
      Random draw(seed.derive(spec.name));
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        values[i] = static_cast<float>((2 * draw.uniform() - 1) * range);
    }
    parameters[spec.name] = tensor;
  }
  return parameters;
}

}  // namespace undertext
