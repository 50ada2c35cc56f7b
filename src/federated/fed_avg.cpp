#include "federated/fed_avg.h"

#include <ATen/ATen.h>

#include "base/error.h"

namespace undertext {

void FedAvg::add(const NamedTensors& weights, std::int64_t size) {
  UNDERTEXT_CHECK(size > 0 && (sum_.empty() || sum_.size() == weights.size()));
  for (const auto& [name, tensor] : weights) {
    at::Tensor& sum = sum_[name];
    if (!sum.defined()) sum = at::zeros(tensor.sizes(), at::kDouble);
    sum.add_(tensor.to(at::kDouble), static_cast<double>(size));
  }
  size_ += size;
}

NamedTensors FedAvg::mean() {
  NamedTensors mean;
  for (const auto& [name, sum] : sum_) mean[name] = (sum / static_cast<double>(size_)).to(at::kFloat);
  return mean;
}

}  // namespace undertext
