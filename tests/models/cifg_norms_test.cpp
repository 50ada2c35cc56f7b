#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstring>

#include "base/threads.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

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

double norm_of(const NamedTensors& tensors) {
  double squares = 0;
  for (const auto& [name, tensor] : tensors)
    squares += tensor.to(torch::kDouble).square().sum().item<double>();
  return std::sqrt(squares);
}

// Shared beginnings, words that come twice, words that are read and predicted, a long one, and nothing.
std::vector<Sentence> some_texts(std::int64_t words) {
  std::vector<Sentence> texts = {{5, 6, 7},           {5, 8},       {9},      {5, 6}, {},
                                 {3, 3, 3, 10, 2, 4}, {9, 5, 5, 6}, {5, 6, 7}};
  Random random(Seed(3));
  for (const std::size_t length : {40u, 300u, 1u}) {
    texts.emplace_back();
    while (texts.back().size() < length)
      texts.back().push_back(static_cast<Token>(random.below(static_cast<std::uint64_t>(words))));
  }
  return texts;
}

const CifgConfig kConfigs[] = {{.vocabulary = 11, .embedding = 4, .units = 5},
                               {.vocabulary = 11, .embedding = 4, .units = 5, .tied = true},
                               {.vocabulary = 1100, .embedding = 7, .units = 70}};

// One backward for each sentence and each choice of what is trained.
TEST(CifgNorms, AreThoseOfEachSentencesOwnGradient) {
  for (const CifgConfig& config : kConfigs) {
    const auto model = model_of(config, 1);
    const std::vector<Sentence> texts = some_texts(config.vocabulary);
    std::vector<std::vector<std::string>> choices = {model->trainable(true), model->trainable(false)};
    for (const auto& [name, tensor] : model->parameters()) choices.push_back({name});
    for (const std::vector<std::string>& names : choices) {
      const std::vector<double> norms = model->gradient_norms(texts, names);
      ASSERT_EQ(norms.size(), texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i) {
        NamedTensors alone = zeros(*model, names);
        model->add_gradient(std::span(texts).subspan(i, 1), 1, alone);
        const double expected = norm_of(alone);
        EXPECT_NEAR(norms[i], expected, 1e-5 * expected + 1e-9)
            << names.front() << " of " << names.size() << ", sentence " << i;
      }
    }
  }
}

TEST(CifgNorms, WeightedSumsAreThoseOfEachSentencesOwn) {
  for (const CifgConfig& config : kConfigs) {
    const auto model = model_of(config, 2);
    const std::vector<Sentence> texts = some_texts(config.vocabulary);
    const std::vector<std::string> names = model->trainable(true);
    std::vector<double> weights;
    for (std::size_t i = 0; i < texts.size(); ++i) weights.push_back(0.3 * static_cast<double>(i) - 1);
    NamedTensors sum = zeros(*model, names), weighted = zeros(*model, names), clipped = zeros(*model, names);
    double loss = 0;
    for (std::size_t i = 0; i < texts.size(); ++i)
      loss += model->add_gradient(std::span(texts).subspan(i, 1), weights[i], sum);
    EXPECT_NEAR(model->add_weighted_gradient(texts, weights, weighted), loss, 1e-5 * loss);
    std::vector<double> norms;
    const auto weight_of = [&](std::size_t i, double norm) {
      EXPECT_EQ(i, norms.size());
      norms.push_back(norm);
      return weights[i];
    };
    EXPECT_NEAR(model->add_clipped_gradient(texts, weight_of, clipped), loss, 1e-5 * loss);
    EXPECT_EQ(norms, model->gradient_norms(texts, names));
    for (const auto& [name, expected] : sum) {
      const double most = expected.abs().max().item<double>();
      EXPECT_LT((weighted.at(name) - expected).abs().max().item<double>(), 1e-5 * most + 1e-6) << name;
      EXPECT_LT((clipped.at(name) - expected).abs().max().item<double>(), 1e-5 * most + 1e-6) << name;
    }
  }
}

// Where a model is nearly sure, the terms of a norm cancel almost to nothing.
TEST(CifgNorms, StayRightWhereTheModelIsNearlySure) {
  const auto model = model_of({.vocabulary = 700, .embedding = 4, .units = 5}, 3);
  at::Tensor bias = model->parameters().at("decoder.bias");
  bias[7] = 14;
  const std::vector<Sentence> texts = {{7, 7}, {7}, {7, 8}};
  const std::vector<std::string> names = model->trainable(true);
  const std::vector<double> norms = model->gradient_norms(texts, names);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    NamedTensors alone = zeros(*model, names);
    model->add_gradient(std::span(texts).subspan(i, 1), 1, alone);
    EXPECT_NEAR(norms[i], norm_of(alone), 1e-4 * norm_of(alone)) << i;
  }
}

TEST(CifgNorms, AreTheSameBytesForAnyNumberOfThreads) {
  const auto model = model_of({.vocabulary = 1500, .embedding = 16, .units = 100}, 4);
  std::vector<Sentence> texts = some_texts(1500);
  for (int i = 0; i < 80; ++i) texts.push_back({static_cast<Token>(i), 7, static_cast<Token>(3 * i)});
  NamedTensors results[3];
  std::vector<double> norms[3];
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    results[count - 1] = zeros(*model, model->trainable(true));
    norms[count - 1] = model->gradient_norms(texts, model->trainable(true));
    model->add_clipped_gradient(
        texts, [](std::size_t, double norm) { return 1 / (1 + norm); }, results[count - 1]);
  }
  set_threads(0);
  for (const int other : {1, 2}) {
    EXPECT_EQ(norms[0], norms[other]);
    for (const auto& [name, tensor] : results[0])
      EXPECT_EQ(std::memcmp(tensor.data_ptr(), results[other].at(name).data_ptr(), tensor.nbytes()), 0)
          << name;
  }
}

}  // namespace
}  // namespace undertext
