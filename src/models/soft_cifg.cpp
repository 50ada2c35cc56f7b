#include "models/soft_cifg.h"

#include <ATen/ATen.h>

namespace undertext {

at::Tensor SoftCifg::logits(const NamedTensors& p, const at::Tensor& inputs) const {
  const std::int64_t b = inputs.size(0);
  at::Tensor h = at::zeros({b, config_.embedding}, inputs.options());
  at::Tensor c = at::zeros({b, config_.units}, inputs.options());
  std::vector<at::Tensor> rows;
  for (std::int64_t t = 0; t < inputs.size(1); ++t) {
    const std::vector<at::Tensor> gate = (at::matmul(inputs.select(1, t), p.at("cell.weight_ih").t()) +
                                          at::matmul(h, p.at("cell.weight_hh").t()) + p.at("cell.bias"))
                                             .chunk(3, -1);
    const at::Tensor forget = at::sigmoid(gate[0]);
    c = forget * c + (1 - forget) * at::tanh(gate[1]);
    h = at::matmul(at::sigmoid(gate[2]) * at::tanh(c), p.at("proj.weight").t()) + p.at("proj.bias");
    rows.push_back(h);
  }
  const at::Tensor output = p.at(config_.tied ? "embedding.weight" : "decoder.weight");
  return at::matmul(at::stack(rows, 1), output.t()) + p.at("decoder.bias");
}

std::shared_ptr<const SoftModel> CifgLstm::soft_model() const {
  return std::make_shared<SoftCifg>(config_);
}

}  // namespace undertext
