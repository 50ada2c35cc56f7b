#include "models/adam.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr std::int64_t kBlock = 1 << 15;  // values per piece of work: what one thread updates at a time

std::int64_t blocks_of(std::int64_t n) {
  return (n + kBlock - 1) / kBlock;
}

// Sum of squares in an order that does not depend on the threads.
double squared_norm(const at::Tensor& tensor) {
  const float* x = tensor.data_ptr<float>();
  std::vector<double> parts(static_cast<std::size_t>(blocks_of(tensor.numel())), 0.0);
  parallel_for(blocks_of(tensor.numel()), [&](std::int64_t block) {
    const std::int64_t end = std::min(tensor.numel(), (block + 1) * kBlock);
    double lanes[8] = {};
    std::int64_t i = block * kBlock;
    for (; i + 8 <= end; i += 8)
      for (std::int64_t l = 0; l < 8; ++l) lanes[l] += static_cast<double>(x[i + l]) * x[i + l];
    for (; i < end; ++i) lanes[0] += static_cast<double>(x[i]) * x[i];
    parts[static_cast<std::size_t>(block)] = std::accumulate(lanes, lanes + 8, 0.0);
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace

Adam::Adam(LanguageModel& model, const AdamOptions& options, const std::vector<std::string>& names,
           GradientSource source)
    : model_(model), options_(options), source_(std::move(source)) {
  for (const std::string& name : names)
    for (NamedTensors* tensors : {&gradient_, &mean_, &square_})
      (*tensors)[name] = at::zeros_like(model.parameters().at(name));
}

double Adam::step(std::span<const Sentence> batch, double rate) {
  const std::int64_t words = model_.predicted(batch);
  if (words == 0) return 0;
  const double mean = 1.0 / static_cast<double>(words);
  const double loss =
      source_ ? source_(batch, steps_, gradient_) : mean * model_.add_gradient(batch, mean, gradient_);
  double norm = 0;
  for (const auto& [name, g] : gradient_) norm += squared_norm(g);
  norm = std::sqrt(norm);
  if (!std::isfinite(loss) || !std::isfinite(norm))
    fail("training diverged: the loss is not finite; expected a smaller learning rate than {}", rate);
  ++steps_;
  const double shorten = norm > options_.clip ? options_.clip / norm : 1.0;
  const double correct1 = 1 - std::pow(options_.beta1, steps_),
               correct2 = 1 - std::pow(options_.beta2, steps_);
  for (auto& [name, g] : gradient_) update(name, shorten, rate, 1 / correct1, 1 / std::sqrt(correct2));
  return loss;
}

// w -= rate (correction m / (sqrt(v) root + epsilon) + decay w), with both moments and the cleared gradient
// in one pass.
void Adam::update(const std::string& name, double shorten, double rate, double correction, double root) {
  const at::Tensor& weight = model_.parameters().at(name);
  float* __restrict w = weight.data_ptr<float>();
  float* __restrict g = gradient_.at(name).data_ptr<float>();
  float* __restrict m = mean_.at(name).data_ptr<float>();
  float* __restrict v = square_.at(name).data_ptr<float>();
  const float scale = static_cast<float>(shorten), r = static_cast<float>(rate * correction),
              s = static_cast<float>(root);
  const float b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2);
  const float epsilon = static_cast<float>(options_.epsilon), most = static_cast<float>(options_.clip_value);
  const float keep = weight.dim() > 1 ? static_cast<float>(1 - rate * options_.weight_decay) : 1.0f;
  const std::int64_t n = weight.numel();
  parallel_for(blocks_of(n), [=](std::int64_t block) {
    for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
      const float x = std::min(std::max(g[i] * scale, -most), most);
      g[i] = 0;
      m[i] = b1 * m[i] + (1 - b1) * x;
      v[i] = b2 * v[i] + (1 - b2) * x * x;
      w[i] = keep * w[i] - r * m[i] / (std::sqrt(v[i]) * s + epsilon);
    }
  });
}

}  // namespace undertext
