#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstring>

#include "base/threads.h"
#include "models/cifg_lstm.h"
#include "models/cifg_reference.h"

namespace undertext {
namespace {

const std::vector<Sentence> kMixed = {{5, 6, 7}, {5, 8}, {9}, {5, 6}, {}, {3, 3, 3, 10, 2, 4}, {9, 5, 5, 6}};

// Random parameters, biases included, so that no gradient is zero by accident.
std::unique_ptr<CifgLstm> model_of(CifgConfig config, std::uint64_t seed) {
  auto model = CifgLstm::random(config, Seed(seed));
  for (const auto& [name, tensor] : model->parameters())
    if (tensor.dim() == 1)
      add_normal_noise(Seed(seed).derive(name), 0.3f, tensor.data_ptr<float>(), tensor.numel());
  return model;
}

NamedTensors zeros(const CifgLstm& model, const std::vector<std::string>& names) {
  NamedTensors result;
  for (const std::string& name : names) result[name] = torch::zeros_like(model.parameters().at(name));
  return result;
}

std::vector<Sentence> random_sentences(Seed seed, std::int64_t count, std::int64_t longest,
                                       std::int64_t words) {
  Random random(seed);
  std::vector<Sentence> result(static_cast<std::size_t>(count));
  for (Sentence& sentence : result)
    for (std::uint64_t i = 0, n = 1 + random.below(static_cast<std::uint64_t>(longest)); i < n; ++i)
      // The square crowds the low ids, so that sentences share beginnings as real ones do.
      sentence.push_back(static_cast<Token>(static_cast<double>(words) * std::pow(random.uniform(), 2)));
  return result;
}

struct Case {
  const char* name;
  CifgConfig config;
};

class CifgGradient : public testing::TestWithParam<Case> {};

TEST_P(CifgGradient, EqualsAutogradForEveryParameter) {
  const CifgConfig& config = GetParam().config;
  const auto model = model_of(config, 1);
  NamedTensors reference = reference_parameters(model->parameters());
  const at::Tensor loss = reference_loss(config, reference, kMixed);
  loss.backward();

  NamedTensors gradient = zeros(*model, model->trainable(true));
  EXPECT_NEAR(model->add_gradient(kMixed, 1, gradient), loss.item<double>(), 2e-6 * loss.item<double>());
  for (const auto& [name, g] : gradient) {
    const at::Tensor wanted = reference.at(name).grad();
    EXPECT_GT(wanted.abs().max().item<double>(), 1e-3) << name;
    EXPECT_LT((g - wanted).abs().max().item<double>(), 3e-6 * wanted.abs().max().item<double>() + 1e-6)
        << name;
  }
}

TEST_P(CifgGradient, EqualsFiniteDifferencesOfTheLoss) {
  const auto model = model_of(GetParam().config, 2);
  NamedTensors gradient = zeros(*model, model->trainable(true));
  model->add_gradient(kMixed, 1, gradient);
  const auto loss = [&] {
    double sum = 0;
    for (const double nll : model->negative_log_likelihood(kMixed)) sum += nll;
    return sum;
  };
  for (const auto& [name, tensor] : model->parameters()) {
    // Along the gradient itself, where the loss changes most: the slope there is the gradient's norm.
    const at::Tensor before = tensor.clone();
    const double norm = gradient.at(name).norm().item<double>();
    const double step = 1e-2 / norm;
    at::Tensor weight = tensor;
    weight.copy_(before + step * gradient.at(name));
    const double up = loss();
    weight.copy_(before - step * gradient.at(name));
    const double down = loss();
    weight.copy_(before);
    EXPECT_NEAR((up - down) / (2 * step * norm), norm, 5e-3 * norm) << name;
  }
}

TEST_P(CifgGradient, IsScaledAndAddedToWhatIsThere) {
  const auto model = model_of(GetParam().config, 3);
  NamedTensors once = zeros(*model, model->trainable(true)), half = zeros(*model, model->trainable(true));
  model->add_gradient(kMixed, 1, once);
  for (auto& [name, g] : half) g.fill_(1);
  model->add_gradient(kMixed, 0.5, half);
  for (const auto& [name, g] : half)
    EXPECT_TRUE(torch::allclose(g, 1 + 0.5 * once.at(name), 1e-4, 1e-5)) << name;
}

TEST_P(CifgGradient, ComesOnlyForTheNamesThatAreAskedFor) {
  const auto model = model_of(GetParam().config, 4);
  NamedTensors all = zeros(*model, model->trainable(true)), some = zeros(*model, model->trainable(false));
  model->add_gradient(kMixed, 1, all);
  model->add_gradient(kMixed, 1, some);
  EXPECT_EQ(some.count("embedding.weight"), 0u);
  for (const auto& [name, g] : some) EXPECT_TRUE(torch::equal(g, all.at(name))) << name;
}

TEST_P(CifgGradient, OfOneStepInPlaceEqualsSubtractingIt) {
  const auto model = model_of(GetParam().config, 5);
  const auto stepped = model->clone();
  NamedTensors gradient = zeros(*model, model->trainable(true));
  const double loss = model->add_gradient(kMixed, 1, gradient);
  EXPECT_EQ(stepped->descend(kMixed, 0.01, model->trainable(true)), loss);
  for (const auto& [name, weight] : stepped->parameters()) {
    EXPECT_TRUE(torch::allclose(weight, model->parameters().at(name) - 0.01 * gradient.at(name), 1e-6, 1e-7))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(, CifgGradient,
                         testing::Values(Case{"untied", {.vocabulary = 11, .embedding = 4, .units = 5}},
                                         Case{"tied",
                                              {.vocabulary = 11, .embedding = 4, .units = 5, .tied = true}},
                                         // More than one block of units and of words, none of them full.
                                         Case{"blocks", {.vocabulary = 1100, .embedding = 7, .units = 70}}),
                         [](const auto& one) { return one.param.name; });

TEST(CifgLstm, LargeBatchesInPiecesEqualTheSumOfTheirParts) {
  const auto model = model_of({.vocabulary = 3000, .embedding = 8, .units = 20}, 6);
  const auto sentences = random_sentences(Seed(7), 900, 8, 3000);  // about 4000 words: pieces, and row blocks
  NamedTensors whole = zeros(*model, model->trainable(true)), parts = zeros(*model, model->trainable(true));
  const double loss = model->add_gradient(sentences, 1, whole);
  double sum = 0;
  for (std::size_t i = 0; i < sentences.size(); i += 100)
    sum += model->add_gradient(std::span(sentences).subspan(i, 100), 1, parts);
  EXPECT_NEAR(sum, loss, 1e-6 * loss);
  for (const auto& [name, g] : whole)
    EXPECT_LT((g - parts.at(name)).abs().max().item<double>(), 2e-6 * g.abs().max().item<double>() + 2e-5)
        << name;

  // Too large for a step in place: the other way must give the same.
  const auto stepped = model->clone();
  stepped->descend(sentences, 1e-3, model->trainable(true));
  for (const auto& [name, weight] : stepped->parameters())
    EXPECT_TRUE(torch::allclose(weight, model->parameters().at(name) - 1e-3 * whole.at(name), 1e-5, 1e-6))
        << name;
}

TEST(CifgLstm, GivesTheSameBytesWithOneAndTwoThreads) {
  const auto model = model_of({.vocabulary = 1500, .embedding = 16, .units = 100}, 8);
  const auto sentences = random_sentences(Seed(9), 40, 6, 1500);
  NamedTensors result[2];
  std::vector<double> nll[2];
  at::Tensor stepped[2];
  for (const int count : {1, 2}) {
    set_threads(count);
    const auto trained = model->clone();
    for (int i = 0; i < 3; ++i) trained->descend(sentences, 0.01, model->trainable(true));
    result[count - 1] = trained->parameters();
    nll[count - 1] = trained->negative_log_likelihood(sentences);
    const auto state = model->step(model->start_state(200), std::vector<Token>(200, 7));
    stepped[count - 1] = model->logits(state.h);
  }
  set_threads(0);
  EXPECT_EQ(nll[0], nll[1]);
  for (const auto& [name, weight] : result[0])
    EXPECT_EQ(std::memcmp(weight.data_ptr(), result[1].at(name).data_ptr(), weight.nbytes()), 0) << name;
  EXPECT_EQ(std::memcmp(stepped[0].data_ptr(), stepped[1].data_ptr(), stepped[0].nbytes()), 0);
}

TEST(CifgLstm, ReadingTokenByTokenAgreesWithTheReference) {
  const CifgConfig config{.vocabulary = 600, .embedding = 9, .units = 33};
  const auto model = model_of(config, 10);
  const NamedTensors reference = reference_parameters(model->parameters());
  const Sentence sentence = {400, 8, 8, 599};
  const at::Tensor wanted = reference_logits(config, reference, sentence).detach();
  auto state = model->start_state(70);
  std::vector<Token> read = {model->start_token()};
  read.insert(read.end(), sentence.begin(), sentence.end());
  double nll = 0;
  for (std::size_t i = 0; i < read.size(); ++i) {
    state = model->step(state, std::vector<Token>(70, read[i]));
    const at::Tensor logits = model->logits(state.h);
    for (const std::int64_t row : {0, 69})
      EXPECT_TRUE(
          torch::allclose(logits[row].to(torch::kDouble), wanted[static_cast<std::int64_t>(i)], 1e-5, 1e-5));
    if (i < sentence.size())
      nll -= torch::log_softmax(logits[0].to(torch::kDouble), 0)[sentence[i]].item<double>();
  }
  const std::vector<Sentence> one = {sentence};
  EXPECT_NEAR(model->negative_log_likelihood(one)[0], nll, 1e-5);
}

TEST(CifgLstm, LikelihoodsStayRightWhenLogitsAreExtreme) {
  const CifgConfig config{.vocabulary = 1030, .embedding = 4, .units = 5};
  const auto model = model_of(config, 11);
  at::Tensor bias = model->parameters().at("decoder.bias");
  bias[3] = 300;      // takes all probability
  bias[1029] = -300;  // a log p that no float32 probability can hold
  const std::vector<Sentence> sentences = {{3}, {1029}, {3, 1029}};
  const NamedTensors reference = reference_parameters(model->parameters());
  const auto nll = model->negative_log_likelihood(sentences);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    EXPECT_NEAR(nll[i], reference_loss(config, reference, std::span(sentences).subspan(i, 1)).item<double>(),
                2e-4);
  NamedTensors gradient = zeros(*model, model->trainable(true));
  EXPECT_TRUE(std::isfinite(model->add_gradient(sentences, 1, gradient)));
  for (const auto& [name, g] : gradient) EXPECT_TRUE(g.isfinite().all().item<bool>()) << name;
}

}  // namespace
}  // namespace undertext
