// Against torch's own LSTM. The one file of these tests that includes torch's modules, which take long to
// compile.
#include <gtest/gtest.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include "models/char_lstm/small_char_lstm.h"

namespace undertext {
namespace {

// The same model as people write it in torch, in double.
class Reference {
 public:
  explicit Reference(const CharLstm& model)
      : embedding_(model.config().vocabulary, model.config().embedding),
        lstm_(torch::nn::LSTMOptions(model.config().embedding, model.config().units)
                  .num_layers(model.config().layers)),
        decoder_(model.config().units, model.config().vocabulary) {
    add("embedding.", *embedding_);
    add("lstm.", *lstm_);
    add("decoder.", *decoder_);
    EXPECT_EQ(parameters_.size(), model.parameters().size());
    const torch::NoGradGuard guard;
    for (auto& [name, tensor] : parameters_) tensor.copy_(model.parameters().at(name));
  }

  // What comes out of the embedding: (characters, 1, E).
  at::Tensor embedded(const Sentence& sentence) {
    return embedding_(at::tensor(sentence, at::kLong).slice(0, 0, -1)).unsqueeze(1);
  }
  at::Tensor loss_from(const at::Tensor& embedded, const Sentence& sentence) {
    const at::Tensor h = std::get<0>(lstm_(embedded));
    const at::Tensor log_p = at::log_softmax(decoder_(h).squeeze(1), 1);
    return -log_p.gather(1, at::tensor(sentence, at::kLong).slice(0, 1).unsqueeze(1)).sum();
  }
  at::Tensor loss(const Sentence& sentence) { return loss_from(embedded(sentence), sentence); }
  std::map<std::string, at::Tensor>& parameters() { return parameters_; }

 private:
  void add(const std::string& prefix, torch::nn::Module& module) {
    module.to(torch::kDouble);
    for (auto& item : module.named_parameters()) parameters_[prefix + item.key()] = item.value();
  }

  torch::nn::Embedding embedding_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear decoder_;
  std::map<std::string, at::Tensor> parameters_;
};

void expect_gradient(const CharLstm& model, const NamedTensors& gradient, Reference& reference) {
  ASSERT_EQ(gradient.size(), model.parameters().size());
  for (const auto& [name, g] : gradient)
    EXPECT_LT(relative_difference(g, reference.parameters().at(name).grad()), 1e-5) << name;
}

class TorchLstm : public testing::TestWithParam<CharLstmConfig> {};

TEST_P(TorchLstm, HasTheSameLikelihoodsAndGradients) {
  const CharLstmConfig& config = GetParam();
  const auto model = small_char_lstm(config);
  // More sentences than fit into one piece, and some that are long.
  std::vector<Sentence> texts = small_texts();
  for (const Sentence& more : random_texts(2, 40, 2, 30, config.vocabulary)) texts.push_back(more);
  Reference reference(*model);
  const std::vector<double> nll = model->negative_log_likelihood(texts);
  double loss = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() < 2) {
      EXPECT_EQ(nll[i], 0);
      continue;
    }
    const at::Tensor one = reference.loss(texts[i]);
    one.backward();
    loss += one.item<double>();
    EXPECT_NEAR(nll[i], one.item<double>(), 1e-5 * one.item<double>());
  }
  NamedTensors gradient = zero_gradient(*model);
  EXPECT_NEAR(model->add_gradient(texts, 1, gradient), loss, 1e-5 * loss);
  expect_gradient(*model, gradient, reference);
}

TEST_P(TorchLstm, HasTheSameAdversarialGradients) {
  const CharLstmConfig& config = GetParam();
  const auto model = small_char_lstm(config);
  constexpr double kEpsilon = 0.7;
  model->perturb({.adversarial = kEpsilon});
  const std::vector<Sentence> texts = small_texts();
  Reference reference(*model);
  double loss = 0, clean = 0;
  for (const Sentence& text : texts) {
    if (text.size() < 2) continue;
    const at::Tensor x = reference.embedded(text);
    x.retain_grad();
    const at::Tensor plain = reference.loss_from(x, text);
    (0.5 * plain).backward({}, true);
    const at::Tensor delta = (kEpsilon / x.grad().norm() * x.grad()).detach();
    const at::Tensor harder = reference.loss_from(reference.embedded(text) + delta, text);
    (0.5 * harder).backward();
    EXPECT_GT(harder.item<double>(), plain.item<double>());
    loss += 0.5 * (plain.item<double>() + harder.item<double>());
    clean += plain.item<double>();
  }
  NamedTensors gradient = zero_gradient(*model);
  EXPECT_NEAR(model->add_gradient(texts, 1, gradient), loss, 1e-5 * loss);
  EXPECT_GT(loss, 1.0001 * clean);
  expect_gradient(*model, gradient, reference);
}

INSTANTIATE_TEST_SUITE_P(
    , TorchLstm,
    testing::Values(small_char_config(1), small_char_config(3),
                    // Whole vectors and panels, and more of them than one.
                    CharLstmConfig{.vocabulary = 70, .embedding = 32, .units = 96, .layers = 2, .dropout = 0},
                    CharLstmConfig{.vocabulary = 11, .embedding = 1, .units = 1, .layers = 2, .dropout = 0}));

}  // namespace
}  // namespace undertext
