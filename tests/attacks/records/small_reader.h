// A model so small that all texts of a pattern can be tried: a keyboard's cell that reads characters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/cifg_lstm.h"
#include "text/character_tokenizer.h"

namespace undertext {

inline CharacterTokenizer small_characters() {
  return build_characters(std::vector<std::string>{"0123456789abcdefghijklmnopqrstuvwxyz- \n"});
}

// Its weights are drawn so wide that its likelihoods are far from uniform.
inline std::shared_ptr<CifgLstm> small_reader(std::uint64_t seed) {
  CifgConfig config;
  config.vocabulary = small_characters().size();
  config.embedding = 8;
  config.units = 12;
  std::shared_ptr<CifgLstm> model = CifgLstm::random(config, Seed(seed));
  for (const auto& [name, tensor] : model->parameters()) {
    auto values = tensor;
    add_normal_noise(Seed(seed).derive(name), 0.5f, values.data_ptr<float>(), values.numel());
  }
  return model;
}

}  // namespace undertext
