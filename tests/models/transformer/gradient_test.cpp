// The handwritten way back beside torch's autograd in double, for every kind and option.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "base/threads.h"
#include "models/soft_model.h"
#include "models/transformer/small_transformers.h"

namespace undertext {
namespace {

struct Variant {
  const char* name;
  TransformerConfig config;
};

TransformerConfig changed(TransformerKind kind, const std::function<void(TransformerConfig&)>& change) {
  TransformerConfig config = small_config(kind);
  change(config);
  return config;
}

std::vector<Variant> variants() {
  using Kind = TransformerKind;
  const auto with = [](Activation activation) {
    return [activation](TransformerConfig& c) { c.activation = activation; };
  };
  return {
      {"gpt2", small_config(Kind::gpt2)},
      {"bert", small_config(Kind::bert)},
      {"plain", small_config(Kind::plain)},
      {"gpt2_untied", changed(Kind::gpt2, [](TransformerConfig& c) { c.tied = false; })},
      {"gpt2_scaled_by_layer", changed(Kind::gpt2, [](TransformerConfig& c) { c.scale_by_layer = true; })},
      {"gpt2_unscaled", changed(Kind::gpt2, [](TransformerConfig& c) { c.scale_attention = false; })},
      {"gpt2_quick_gelu", changed(Kind::gpt2, with(Activation::gelu_sigmoid))},
      {"gpt2_silu", changed(Kind::gpt2, with(Activation::silu))},
      {"bert_tanh", changed(Kind::bert, with(Activation::tanh))},
      {"bert_untied", changed(Kind::bert, [](TransformerConfig& c) { c.tied = false; })},
      {"plain_causal_tied", changed(Kind::plain, [](TransformerConfig& c) { c.causal = c.tied = true; })},
      {"plain_norm_first", changed(Kind::plain, [](TransformerConfig& c) { c.norm_first = true; })},
      {"no_layers", changed(Kind::gpt2, [](TransformerConfig& c) { c.layers = 0; })}};
}

// The sum of losses and its gradients, by autograd.
std::pair<double, NamedTensors> reference(const Transformer& model, const std::vector<Example>& examples) {
  NamedTensors p;
  for (const auto& [name, tensor] : model.parameters())
    p[name] = tensor.detach().to(at::kDouble).clone().requires_grad_();
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (const Example& example : examples) {
    const at::Tensor ids = at::tensor(std::vector<std::int64_t>(example.input.begin(), example.input.end()));
    const at::Tensor inputs = p.at(model.names().token_embedding).index_select(0, ids).unsqueeze(0);
    const at::Tensor log_p = at::log_softmax(model.soft_model()->logits(p, inputs)[0], -1);
    for (std::size_t i = 0; i < example.target.size(); ++i)
      if (example.target[i] != kNoTarget)
        loss = loss - log_p[static_cast<std::int64_t>(i)][example.target[i]];
  }
  std::vector<at::Tensor> leaves;
  for (const auto& [name, tensor] : p) leaves.push_back(tensor);
  const auto gradients = torch::autograd::grad({loss}, leaves);
  std::size_t next = 0;
  for (auto& [name, tensor] : p) tensor = gradients[next++];
  return {loss.item<double>(), p};
}

class TransformerGradient : public testing::TestWithParam<Variant> {};

TEST_P(TransformerGradient, IsAutogradsOwn) {
  const auto model = small_transformer(GetParam().config);
  const std::vector<Example> examples = model->examples(small_sentences());
  const auto [loss, expected] = reference(*model, examples);
  NamedTensors gradient;
  for (const auto& [name, tensor] : model->parameters()) gradient[name] = at::ones_like(tensor);
  EXPECT_NEAR(model->add_gradient(examples, 0.5, gradient), loss, 1e-5 * loss);
  for (const auto& [name, theirs] : expected) {
    const at::Tensor ours = (gradient.at(name).to(at::kDouble) - 1) * 2;  // added to what was there, scaled
    EXPECT_LT((ours - theirs).norm().item<double>(), 1e-5 * (1 + theirs.norm().item<double>())) << name;
  }
  double total = 0;
  for (const double nll : model->negative_log_likelihood(examples)) total += nll;
  EXPECT_NEAR(total, loss, 1e-5 * loss);
}

TEST_P(TransformerGradient, IsTheSameForAnyNumberOfThreads) {
  TransformerConfig config = GetParam().config;
  config.embedding_dropout = config.attention_dropout = config.residual_dropout = 0.1;
  const auto model = small_transformer(config);
  model->randomise(Seed(3));
  NamedTensors first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    NamedTensors gradient;
    for (const auto& [name, tensor] : model->parameters()) gradient[name] = at::zeros_like(tensor);
    model->add_gradient(small_sentences(), 1, gradient);
    if (first.empty()) first = gradient;
    EXPECT_EQ(hash_of(first), hash_of(gradient)) << count;
  }
  set_threads(0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransformerGradient, testing::ValuesIn(variants()),
                         [](const auto& variant) { return std::string(variant.param.name); });

// With dropout there is nothing to compare with but the loss itself: its slope along a random direction.
TEST(TransformerDropout, GradientIsTheSlopeOfTheLossWithTheSameChoices) {
  for (const TransformerKind kind : {TransformerKind::gpt2, TransformerKind::bert, TransformerKind::plain}) {
    TransformerConfig config = small_config(kind);
    config.activation = Activation::gelu;  // smooth
    config.embedding_dropout = config.attention_dropout = config.residual_dropout = 0.3;
    const auto model = small_transformer(config);
    const std::vector<Example> examples = model->examples(small_sentences());
    model->randomise(Seed(8));
    NamedTensors gradient, direction;
    for (const auto& [name, tensor] : model->parameters()) {
      gradient[name] = at::zeros_like(tensor);
      direction[name] = at::zeros_like(tensor);
      add_normal_noise(Seed(9).derive(name), 1, direction[name].data_ptr<float>(), tensor.numel());
    }
    const double loss = model->add_gradient(examples, 1, gradient);
    double slope = 0;
    for (const auto& [name, g] : gradient)
      slope += (g.to(at::kDouble) * direction[name]).sum().item<double>();
    const auto loss_at = [&](double step) {
      for (const auto& [name, tensor] : model->parameters()) {
        at::Tensor parameter = tensor;
        parameter.add_(direction[name], step);
      }
      NamedTensors none;
      const double value = model->add_gradient(examples, 1, none);
      for (const auto& [name, tensor] : model->parameters()) {
        at::Tensor parameter = tensor;
        parameter.sub_(direction[name], step);
      }
      return value;
    };
    constexpr double kStep = 3e-4;
    const double measured = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    EXPECT_NEAR(measured, slope, 5e-3 * std::abs(slope)) << name_of(kind);
    model->randomise(std::nullopt);
    NamedTensors none;
    EXPECT_NE(model->add_gradient(examples, 1, none), loss) << "nothing was dropped";
  }
}

}  // namespace
}  // namespace undertext
