// The CIFG LSTM once more, in torch operations and double, one sentence at a time: what the fused code is
// checked against.
#pragma once

#include <torch/torch.h>

#include <span>

#include "models/cifg_lstm.h"

namespace undertext {

// Double copies of the parameters that ask for gradients.
inline NamedTensors reference_parameters(const NamedTensors& parameters) {
  NamedTensors result;
  for (const auto& [name, tensor] : parameters)
    result[name] = tensor.detach().to(torch::kDouble).clone().requires_grad_();
  return result;
}

// Logits after <S> and after each of the words: (words + 1, V).
inline at::Tensor reference_logits(const CifgConfig& config, const NamedTensors& p,
                                   std::span<const Token> words) {
  at::Tensor h = torch::zeros({config.embedding}, torch::kDouble);
  at::Tensor c = torch::zeros({config.units}, torch::kDouble);
  const at::Tensor output = p.at(config.tied ? "embedding.weight" : "decoder.weight");
  std::vector<at::Tensor> rows;
  std::vector<Token> read = {config.start};
  read.insert(read.end(), words.begin(), words.end());
  for (const Token token : read) {
    const at::Tensor x = p.at("embedding.weight")[token];
    const at::Tensor pre =
        torch::mv(p.at("cell.weight_ih"), x) + torch::mv(p.at("cell.weight_hh"), h) + p.at("cell.bias");
    const auto gate = pre.chunk(3);
    const at::Tensor f = torch::sigmoid(gate[0]);
    c = f * c + (1 - f) * torch::tanh(gate[1]);
    h = torch::mv(p.at("proj.weight"), torch::sigmoid(gate[2]) * torch::tanh(c)) + p.at("proj.bias");
    rows.push_back(torch::mv(output, h) + p.at("decoder.bias"));
  }
  return torch::stack(rows);
}

inline at::Tensor reference_loss(const CifgConfig& config, const NamedTensors& p,
                                 std::span<const Sentence> sentences) {
  at::Tensor loss = torch::zeros({}, torch::kDouble);
  for (const Sentence& sentence : sentences) {
    const at::Tensor log_p = torch::log_softmax(reference_logits(config, p, sentence), 1);
    for (std::size_t i = 0; i < sentence.size(); ++i)
      loss = loss - log_p[static_cast<std::int64_t>(i)][sentence[i]];
  }
  return loss;
}

}  // namespace undertext
