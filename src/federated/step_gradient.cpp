#include "federated/step_gradient.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/char_lstm/char_lstm.h"
#include "models/clipped_gradient.h"

namespace undertext {
namespace {

double bound_of(Defences defences) {
  double bound = std::numeric_limits<double>::infinity();
  for (const auto& defence : defences) bound = std::min(bound, defence->sentence_bound());
  return bound;
}

// Predicted words of one sentence, at least 1. A masked model draws them by the sentence's place in the
// batch.
std::int64_t words_in(const LanguageModel& model, std::span<const Sentence> batch, std::size_t i) {
  return std::max<std::int64_t>(model.predicted(batch.first(i + 1)) - model.predicted(batch.first(i)), 1);
}

// How much each sentence's gradient, of its sum of losses, counts.
WeightOfNorm weights_of(const LanguageModel& model, std::span<const Sentence> batch, Reduction reduction,
                        double bound, std::int64_t step) {
  return [&model, batch, reduction, bound, step](std::size_t i, double norm_of_sum) {
    if (!std::isfinite(norm_of_sum))
      fail("the gradient of step {} is not finite, expected one that has a norm", step + 1);
    const double own = reduction == Reduction::mean ? 1 / static_cast<double>(words_in(model, batch, i)) : 1;
    const double norm = own * norm_of_sum;
    return norm > bound ? own * bound / norm : own;
  };
}

double gradient_from(LstmState& carried, const LanguageModel& model, std::span<const Sentence> batch,
                     double scale, NamedTensors& gradient) {
  const auto* lstm = dynamic_cast<const CharLstm*>(&model);
  if (lstm == nullptr)
    fail("a {} has no state to carry from step to step, expected a char-lstm", model.kind());
  return lstm->add_gradient_from(carried, batch, scale, gradient);
}

}  // namespace

bool act_on_steps(Defences defences) {
  return std::ranges::any_of(defences, [](const auto& defence) {
    return defence->acts_on_gradient() || std::isfinite(defence->sentence_bound());
  });
}

void perturb(LanguageModel& model, Defences defences) {
  Perturbation perturbation;
  for (const auto& defence : defences) defence->on_perturbation(perturbation);
  model.perturb(perturbation);
}

double step_gradient(const LanguageModel& model, std::span<const Sentence> batch, Reduction reduction,
                     Defences defences, std::int64_t step, NamedTensors& gradient, LstmState* carried,
                     double expected) {
  for (auto& [name, tensor] : gradient) tensor.zero_();
  const double bound = bound_of(defences);
  double loss = 0;
  if (std::isfinite(bound)) {
    if (carried != nullptr)
      fail("a state is carried from text to text, expected none under a bound on each text's own gradient");
    if (!batch.empty())
      loss = add_clipped_gradient(model, batch, weights_of(model, batch, reduction, bound, step), gradient);
    for (const auto& defence : defences) defence->on_sum(gradient, step);
    if (reduction == Reduction::mean)
      for (auto& [name, tensor] : gradient)
        tensor.div_(expected > 0 ? expected : static_cast<double>(batch.size()));
  } else if (!batch.empty()) {
    const std::int64_t words = reduction == Reduction::mean ? model.predicted(batch) : 1;
    const double scale = words == 0 ? 1 : 1 / static_cast<double>(words);
    loss = carried != nullptr ? gradient_from(*carried, model, batch, scale, gradient)
                              : model.add_gradient(batch, scale, gradient);
  }
  for (const auto& defence : defences) defence->on_gradient(gradient, step);
  return loss;
}

}  // namespace undertext
