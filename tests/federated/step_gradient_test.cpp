#include "federated/step_gradient.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "base/threads.h"
#include "federated/clients.h"
#include "federated/local_training.h"
#include "models/transformer/transformer.h"

namespace undertext {
namespace {

class Bound : public ClientDefence {
 public:
  explicit Bound(double norm) : norm_(norm) {}
  double sentence_bound() const override { return norm_; }

 private:
  double norm_;
};

std::shared_ptr<Transformer> tiny_gpt2(double dropout = 0) {
  TransformerConfig config;
  config.kind = TransformerKind::gpt2;
  config.vocabulary = 30;
  config.width = 8;
  config.layers = 2;
  config.heads = 2;
  config.inner = 16;
  config.positions = 8;
  config.norm_first = config.causal = config.tied = true;
  config.initial_deviation = 0.3;
  config.embedding_dropout = config.residual_dropout = dropout;
  return Transformer::random(config, Seed(3));
}

NamedTensors zeros_of(const LanguageModel& model) {
  NamedTensors gradient;
  for (const std::string& name : model.trainable(true))
    gradient[name] = at::zeros_like(model.parameters().at(name));
  return gradient;
}

double norm_of(const NamedTensors& tensors) {
  double squares = 0;
  for (const auto& [name, tensor] : tensors) squares += tensor.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(squares);
}

// Each sentence alone, clipped by hand.
NamedTensors clipped_by_hand(const LanguageModel& model, std::span<const Sentence> batch, double bound) {
  NamedTensors sum = zeros_of(model);
  for (const Sentence& sentence : batch) {
    NamedTensors own = zeros_of(model);
    const std::vector<Sentence> alone = {sentence};
    const auto words = static_cast<double>(std::max<std::int64_t>(model.predicted(alone), 1));
    model.add_gradient(alone, 1 / words, own);
    const double norm = norm_of(own);
    for (auto& [name, tensor] : sum)
      tensor.add_(own.at(name), (norm > bound ? bound / norm : 1) / static_cast<double>(batch.size()));
  }
  return sum;
}

TEST(StepGradient, BoundsEachSentence) {
  const std::vector<std::shared_ptr<const LanguageModel>> models = {tiny_gpt2(), tiny_model()};
  for (const auto& model : models) {
    for (const double bound : {0.5, 2.0, 1e6}) {
      const std::vector<std::shared_ptr<const ClientDefence>> defences = {std::make_shared<Bound>(bound)};
      NamedTensors gradient = zeros_of(*model);
      step_gradient(*model, kTexts, Reduction::mean, defences, 0, gradient);
      for (const auto& [name, expected] : clipped_by_hand(*model, kTexts, bound))
        EXPECT_TRUE(torch::allclose(gradient.at(name), expected, 1e-3, 1e-5))
            << model->kind() << name << bound;
    }
  }
}

TEST(StepGradient, WithoutABoundIsThatOfTheWholeBatch) {
  const auto model = tiny_gpt2();
  NamedTensors gradient = zeros_of(*model), expected = zeros_of(*model);
  gradient.begin()->second.fill_(7);  // what was there is overwritten
  step_gradient(*model, kTexts, Reduction::mean, {}, 0, gradient);
  model->add_gradient(kTexts, 1 / static_cast<double>(model->predicted(kTexts)), expected);
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(torch::equal(gradient.at(name), tensor)) << name;
}

// Norms and gradients come from two passes, which must drop the same numbers.
TEST(StepGradient, KeepsItsBoundUnderDropout) {
  const auto model = tiny_gpt2(0.5);
  model->randomise(Seed(9));
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {std::make_shared<Bound>(1e-3)};
  const std::vector<Sentence> one = {{5, 6, 7, 8, 9}};
  NamedTensors gradient = zeros_of(*model);
  step_gradient(*model, one, Reduction::mean, defences, 0, gradient);
  EXPECT_NEAR(norm_of(gradient), 1e-3, 1e-7);
}

TEST(StepGradient, DoesNotDependOnTheThreads) {
  const auto model = tiny_gpt2();
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {std::make_shared<Bound>(1)};
  NamedTensors one = zeros_of(*model), four = zeros_of(*model);
  const int before = threads();
  set_threads(1);
  step_gradient(*model, kTexts, Reduction::mean, defences, 0, one);
  set_threads(4);
  step_gradient(*model, kTexts, Reduction::mean, defences, 0, four);
  set_threads(before);
  for (const auto& [name, tensor] : one) EXPECT_TRUE(torch::equal(tensor, four.at(name))) << name;
}

}  // namespace
}  // namespace undertext
