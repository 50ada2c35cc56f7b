#include "attacks/certificate.h"

#include <ATen/ops/norm.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

namespace undertext {
namespace {

constexpr double kRoundings = 8;      // standard deviations of a row's rounding that pass
constexpr double kOccurrence = 0.02;  // and this share of what one occurrence changes, for summation order

}  // namespace

double clip_gradient(NamedTensors& gradient, double norm) {
  double squares = 0;
  for (const auto& [name, tensor] : gradient)
    squares += std::pow(at::norm(tensor, 2, at::kDouble).item<double>(), 2);
  if (squares <= norm * norm) return 1;
  const double factor = norm / std::sqrt(squares);
  for (auto& [name, tensor] : gradient) tensor.mul_(factor);
  return factor;
}

bool explains_update(const Observation& observation, std::span<const Sentence> sentences) {
  const Protocol& protocol = observation.update.protocol;
  const auto count = static_cast<std::int64_t>(sentences.size());
  if (sentences.empty() || protocol.epochs != 1 || (protocol.batch > 0 && protocol.batch < count))
    return false;
  const std::string name = observation.before->parameter_of(Role::output_weight).value_or("");
  if (!observation.update.tensors.contains(name)) return false;

  double tokens = 0;
  for (const Sentence& sentence : sentences) tokens += static_cast<double>(sentence.size());
  double scale = protocol.reduction == Reduction::mean ? 1 / tokens : 1;
  NamedTensors gradient;
  for (const auto& [trained, tensor] : observation.update.tensors)
    if (trained == name || protocol.defence.clip > 0)
      gradient[trained] = at::zeros_like(observation.before->parameters().at(trained));
  observation.before->add_gradient(sentences, scale, gradient);
  if (protocol.defence.clip > 0) scale *= clip_gradient(gradient, protocol.defence.clip);

  const bool weights = protocol.kind == UpdateKind::weights;
  const double rate = weights ? protocol.learning_rate : 1;
  const at::Tensor before = observation.before->parameters().at(name);
  const at::Tensor sent = observation.update.tensors.at(name).contiguous();
  const float* g = gradient[name].data_ptr<float>();
  const float* b = before.data_ptr<float>();
  const float* s = sent.data_ptr<float>();
  const std::int64_t rows = before.size(0), width = before.size(1);
  for (std::int64_t k = 0; k < rows; ++k) {
    double off = 0, rounding = 0;
    for (std::int64_t j = k * width; j < (k + 1) * width; ++j) {
      const double expected = weights ? b[j] - rate * g[j] : g[j];
      off += (s[j] - expected) * (s[j] - expected);
      const double step = std::nextafter(std::fabs(s[j]), INFINITY) - static_cast<double>(std::fabs(s[j]));
      rounding += step * step / 12;
    }
    if (std::sqrt(off) > kRoundings * std::sqrt(rounding) + kOccurrence * rate * scale) return false;
  }
  return true;
}

}  // namespace undertext
