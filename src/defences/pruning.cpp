#include "defences/pruning.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace undertext {
namespace {

void add_magnitudes(const at::Tensor& tensor, std::vector<float>& magnitudes) {
  const float* x = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) magnitudes.push_back(std::abs(x[i]));
}

// The smallest magnitude that stays; reorders the magnitudes.
float smallest_kept(std::vector<float>& magnitudes, double share) {
  if (magnitudes.empty()) return 0;
  const auto pruned = static_cast<std::ptrdiff_t>(share * static_cast<double>(magnitudes.size()));
  const auto place = magnitudes.begin() + std::min(pruned, std::ssize(magnitudes) - 1);
  std::nth_element(magnitudes.begin(), place, magnitudes.end());
  return *place;
}

void prune(at::Tensor& tensor, float smallest) {
  float* x = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    if (std::abs(x[i]) < smallest) x[i] = 0;
}

}  // namespace

Pruning::Pruning(double share, PruningScope scope) : share_(share), scope_(scope) {
  if (!(share >= 0 && share < 1))
    fail("pruning: a share of {}, expected one of at least 0 and below 1", share);
}

void Pruning::on_gradient(NamedTensors& gradient, std::int64_t step) const {
  std::vector<float> magnitudes;
  for (auto& [name, tensor] : gradient) {
    if (!at::isfinite(tensor).all().item<bool>())
      fail("pruning: the gradient of step {} is not finite, expected numbers that can be compared", step + 1);
    add_magnitudes(tensor, magnitudes);
    if (scope_ == PruningScope::all) continue;
    prune(tensor, smallest_kept(magnitudes, share_));
    magnitudes.clear();
  }
  if (scope_ == PruningScope::each) return;
  const float smallest = smallest_kept(magnitudes, share_);
  for (auto& [name, tensor] : gradient) prune(tensor, smallest);
}

void Pruning::tell(KnownDefence& known, double texts) const {
  (void)texts;
  known.pruned = std::max(known.pruned, share_);
}

}  // namespace undertext
