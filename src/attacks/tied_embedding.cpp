#include "attacks/tied_embedding.h"

#include <ATen/ATen.h>

namespace undertext {

Matrix<double> embedding_gradient(const CifgLstm& model, std::span<const Sentence> sentences) {
  // The same model with an output weight of its own, so that the two gradients come apart.
  CifgConfig config = model.config();
  NamedTensors parameters = model.parameters();
  const std::string embedding = *model.parameter_of(Role::token_embedding);
  if (config.tied) {
    config.tied = false;
    parameters["decoder.weight"] = parameters.at(embedding).clone();
  }
  const CifgLstm untied(config, parameters);
  NamedTensors gradient;
  gradient[embedding] = at::zeros_like(parameters.at(embedding));
  untied.add_gradient(sentences, 1, gradient);
  const at::Tensor& sum = gradient[embedding];
  Matrix<double> rows(sum.size(0), sum.size(1));
  const float* from = sum.data_ptr<float>();
  std::copy(from, from + sum.numel(), rows.data.begin());
  return rows;
}

}  // namespace undertext
