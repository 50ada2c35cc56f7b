#include "defences/secure_aggregation/secure_averaging.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "defences/secure_aggregation/fixed_point.h"

namespace undertext {
namespace {

// A client does not know the others' sizes, so it counts in units that no sum of them can exceed.
constexpr double kSizeUnit = 1 << 20;
constexpr std::int64_t kMostClients = 1 << 10;

}  // namespace

void SecureAveraging::add(const NamedTensors& weights, std::int64_t size) {
  UNDERTEXT_CHECK(size > 0 && (shapes_.empty() || shapes_.size() == weights.size()));
  if (shapes_.empty()) shapes_ = weights;
  const double share = static_cast<double>(size) / kSizeUnit;
  std::vector<double> numbers;
  for (const auto& [name, tensor] : weights) {
    const at::Tensor whole = tensor.contiguous();
    const float* values = whole.data_ptr<float>();
    for (std::int64_t i = 0; i < whole.numel(); ++i) numbers.push_back(share * values[i]);
  }
  numbers.push_back(share);
  clients_.push_back(to_fixed_point(numbers, kMostClients));
}

NamedTensors SecureAveraging::mean() {
  if (clients_.empty()) return {};
  const auto count = std::ssize(clients_);
  if (count > kMostClients)
    fail("secure aggregation: {} clients in a round, expected {} at most", count, kMostClients);
  const SecureSum result = secure_sum(
      count, [&](std::int64_t client) { return std::move(clients_[static_cast<std::size_t>(client)]); },
      std::vector<bool>(clients_.size(), false), {.seed = seed_});
  const std::vector<double> sums = from_fixed_point(result.sum);
  NamedTensors mean;
  std::size_t place = 0;
  for (const auto& [name, tensor] : shapes_) {
    at::Tensor& whole = mean[name] = at::empty(tensor.sizes(), at::kFloat);
    float* values = whole.data_ptr<float>();
    for (std::int64_t i = 0; i < whole.numel(); ++i)
      values[i] = static_cast<float>(sums[place++] / sums.back());
  }
  clients_.clear();
  return mean;
}

}  // namespace undertext
