// Small models and texts that the tests of this room share.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "base/random.h"
#include "models/cifg_lstm.h"

namespace undertext {

inline std::shared_ptr<CifgLstm> tiny_model(std::uint64_t seed = 1) {
  std::shared_ptr<CifgLstm> model =
      CifgLstm::random({.vocabulary = 30, .embedding = 4, .units = 6}, Seed(seed));
  at::Tensor bias = model->parameters().at("decoder.bias");
  add_normal_noise(Seed(seed), 0.5f, bias.data_ptr<float>(), bias.numel());
  return model;
}

inline const std::vector<Sentence> kTexts = {{5, 6, 7}, {5, 8}, {9}, {5, 6, 29, 3}, {2, 2}};

}  // namespace undertext
