#include "defences/clipped_sum.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"

namespace undertext {

ClippedSum::ClippedSum(double norm) : norm_(norm) {
  if (!(norm > 0) || !std::isfinite(norm))
    fail("updates cut to a norm of {}, expected a positive number", norm);
}

void ClippedSum::start(const NamedTensors& global) {
  global_ = global;
  sum_.clear();
  for (const auto& [name, tensor] : global_) sum_[name] = at::zeros(tensor.sizes(), at::kDouble);
}

void ClippedSum::add(const NamedTensors& weights) {
  UNDERTEXT_CHECK(weights.size() == global_.size());
  NamedTensors update;
  double squares = 0;
  for (const auto& [name, tensor] : weights) {
    at::Tensor& part = update[name] = tensor.to(at::kDouble);
    part = part - global_.at(name);
    squares += part.square().sum().item<double>();
  }
  if (!std::isfinite(squares)) fail("a client's update is not finite, expected one that has a norm");
  const double norm = std::sqrt(squares);
  for (const auto& [name, part] : update) sum_.at(name).add_(part, norm > norm_ ? norm_ / norm : 1.0);
}

NamedTensors ClippedSum::model(double clients) const {
  NamedTensors model;
  for (const auto& [name, sum] : sum_)
    model[name] = (global_.at(name).to(at::kDouble) + sum / clients).to(at::kFloat);
  return model;
}

}  // namespace undertext
