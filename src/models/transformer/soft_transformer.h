// The transformers as graphs of torch operations.
#pragma once

#include "models/soft_model.h"
#include "models/transformer/parameters.h"

namespace undertext {

class SoftTransformer : public SoftModel {
 public:
  explicit SoftTransformer(const TransformerConfig& config) : config_(config), names_(config) {}
  at::Tensor logits(const NamedTensors& parameters, const at::Tensor& inputs) const override;
  Alignment alignment() const override { return config_.masked() ? Alignment::same : Alignment::next; }
  bool causal() const override { return config_.causal; }

 private:
  TransformerConfig config_;
  TransformerNames names_;
};

}  // namespace undertext
