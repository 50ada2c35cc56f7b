// The keyboard's model as a graph of torch operations.
#pragma once

#include "models/cifg_lstm.h"
#include "models/soft_model.h"

namespace undertext {

class SoftCifg : public SoftModel {
 public:
  explicit SoftCifg(const CifgConfig& config) : config_(config) {}
  at::Tensor logits(const NamedTensors& parameters, const at::Tensor& inputs) const override;
  Alignment alignment() const override { return Alignment::after_start; }
  bool causal() const override { return true; }

 private:
  CifgConfig config_;
};

}  // namespace undertext
