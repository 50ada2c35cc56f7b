#include "federated/observation.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "federated/local_training.h"

namespace undertext {

Observation observe(std::shared_ptr<const LanguageModel> base, const std::string& base_hash, Update update) {
  if (!update.protocol.base_hash.empty() && update.protocol.base_hash != base_hash)
    fail("the update is of another model: it starts from {:.12}, this model is {:.12}",
         update.protocol.base_hash, base_hash);
  for (const auto& [name, tensor] : update.tensors) {
    const auto found = base->parameters().find(name);
    if (found == base->parameters().end())
      fail("the update is of another model: it holds {}, which this model does not have", name);
    if (found->second.sizes() != tensor.sizes())
      fail("the update is of another model: {} has shape ({}), expected ({})", name,
           fmt::join(tensor.sizes(), ", "), fmt::join(found->second.sizes(), ", "));
  }
  Observation observation;
  observation.before = std::move(base);
  if (update.protocol.zero_output_bias) {
    const std::shared_ptr<LanguageModel> zeroed = observation.before->clone();
    zero_output_bias(*zeroed);
    observation.before = zeroed;
  }
  NamedTensors changed;
  for (const auto& [name, tensor] : update.tensors) {
    const at::Tensor parameter = observation.before->parameters().at(name);
    changed[name] = update.protocol.kind == UpdateKind::weights ? tensor
                    : update.protocol.kind == UpdateKind::delta
                        ? parameter + tensor
                        : at::sub(parameter, tensor, update.protocol.learning_rate);
  }
  observation.after = observation.before->with(changed);
  observation.update = std::move(update);
  return observation;
}

at::Tensor summed_gradient(const Observation& observation, const std::string& parameter) {
  const at::Tensor before = observation.before->parameters().at(parameter);
  const auto found = observation.update.tensors.find(parameter);
  if (found == observation.update.tensors.end()) return at::zeros(before.sizes(), at::kDouble);
  if (observation.update.protocol.kind == UpdateKind::gradient) return found->second.to(at::kDouble);
  if (observation.update.protocol.kind == UpdateKind::delta)
    return -found->second.to(at::kDouble) / observation.update.protocol.learning_rate;
  return (before.to(at::kDouble) - found->second.to(at::kDouble)) / observation.update.protocol.learning_rate;
}

std::int64_t local_steps(const Protocol& protocol) {
  return protocol.epochs * steps_per_epoch(protocol.count, protocol.batch);
}

bool counts_are_whole(const Protocol& protocol) {
  return protocol.reduction == Reduction::sum && protocol.defence.clip == 0 &&
         protocol.defence.text_clip == 0;
}

double known_noise(const Observation& observation) {
  const Protocol& protocol = observation.update.protocol;
  const KnownDefence& known = protocol.defence;
  const double once =
      known.noise_on_result / (protocol.kind == UpdateKind::gradient ? 1 : protocol.learning_rate);
  return std::hypot(known.noise_per_step * std::sqrt(static_cast<double>(local_steps(protocol))), once);
}

}  // namespace undertext
