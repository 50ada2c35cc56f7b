// Character LSTMs small enough to check every number of.
#pragma once

#include <ATen/ATen.h>

#include "models/char_lstm/char_lstm.h"

namespace undertext {

// 19 units and 6 numbers of embedding fill no vector of any machine.
inline CharLstmConfig small_char_config(std::int64_t layers = 2) {
  return {.vocabulary = 11, .embedding = 6, .units = 19, .layers = layers, .dropout = 0};
}

// Weights large enough that gates leave their linear range.
inline std::unique_ptr<CharLstm> small_char_lstm(const CharLstmConfig& config, std::uint64_t seed = 1) {
  auto model = CharLstm::random(config, Seed(seed));
  for (const auto& [name, tensor] : model->parameters())
    add_normal_noise(Seed(seed).derive("more").derive(name), 0.3f, tensor.data_ptr<float>(), tensor.numel());
  return model;
}

// Ragged, out of order, with sentences that predict nothing.
inline std::vector<Sentence> small_texts() {
  return {{3, 1, 4}, {1, 5, 9, 2, 6, 5, 3, 5, 8, 9}, {7}, {7, 9}, {}, {10, 0, 2, 8, 8, 4, 1}, {0, 0, 0}};
}

inline std::vector<Sentence> random_texts(std::uint64_t seed, std::size_t count, std::size_t shortest,
                                          std::size_t longest, std::int64_t vocabulary) {
  Random random{Seed(seed)};
  std::vector<Sentence> result(count);
  for (Sentence& sentence : result) {
    sentence.resize(shortest + random.below(longest - shortest + 1));
    for (Token& token : sentence)
      token = static_cast<Token>(random.below(static_cast<std::uint64_t>(vocabulary)));
  }
  return result;
}

inline NamedTensors zero_gradient(const LanguageModel& model) {
  NamedTensors result;
  for (const auto& [name, tensor] : model.parameters()) result[name] = at::zeros_like(tensor);
  return result;
}

inline double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// The largest difference as a share of the largest value.
inline double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>() /
         b.to(at::kDouble).abs().max().item<double>();
}

}  // namespace undertext
