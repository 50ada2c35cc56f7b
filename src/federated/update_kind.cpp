#include "federated/update_kind.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/random.h"

namespace undertext {
namespace {

constexpr double kNear = 0.25;  // squared distance to the model, as a share of its own squared size
constexpr int kTexts = 8;
constexpr std::int64_t kWords = 12;

bool near_the_model(const LanguageModel& model, const NamedTensors& update) {
  double distance = 0, size = 0;
  for (const auto& [name, tensor] : update) {
    const at::Tensor own = model.parameters().at(name);
    distance += (tensor - own).to(at::kDouble).square().sum().item<double>();
    size += own.to(at::kDouble).square().sum().item<double>();
  }
  return distance < kNear * size;
}

// The third moment of the output bias: below zero for a gradient.
double skew(const at::Tensor& bias) {
  const at::Tensor centred = bias.to(at::kDouble) - bias.to(at::kDouble).mean();
  return centred.pow(3).sum().item<double>();
}

// Texts of any words; the same for every call.
std::vector<Sentence> any_texts(const LanguageModel& model) {
  Random random(Seed(1).derive("any texts"));
  std::vector<Sentence> texts(kTexts);
  for (Sentence& text : texts)
    for (std::int64_t i = 0; i < std::min(kWords, model.longest_sentence()); ++i)
      text.push_back(static_cast<Token>(random.below(static_cast<std::uint64_t>(model.vocabulary_size()))));
  return texts;
}

// How the rows that moved least, of words that were not typed, agree with a gradient on other texts.
double agreement(const LanguageModel& model, const std::string& name, const at::Tensor& update) {
  NamedTensors other = {{name, at::zeros_like(update)}};
  model.add_gradient(any_texts(model), 1, other);
  const at::Tensor size = update.norm(2, 1), other_size = other.at(name).norm(2, 1);
  const at::Tensor quiet = (size <= size.median()).logical_and(other_size <= other_size.median());
  return (update * other.at(name)).sum(1).masked_select(quiet).sum().item<double>();
}

}  // namespace

UpdateKind infer_kind(const LanguageModel& model, const NamedTensors& update) {
  if (near_the_model(model, update)) return UpdateKind::weights;
  const auto bias = model.parameter_of(Role::output_bias), weight = model.parameter_of(Role::output_weight);
  double gradient = 1;  // above zero: it is one
  if (bias && update.contains(*bias))
    gradient = -skew(update.at(*bias));
  else if (weight && update.contains(*weight))
    gradient = agreement(model, *weight, update.at(*weight));
  return gradient >= 0 ? UpdateKind::gradient : UpdateKind::delta;
}

}  // namespace undertext
