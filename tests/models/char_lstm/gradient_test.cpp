#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "base/threads.h"
#include "models/char_lstm/small_char_lstm.h"

namespace undertext {
namespace {

// The loss along each parameter's own gradient, where it changes most: the slope there is the gradient's
// norm.
void expect_slopes(const CharLstm& model, const NamedTensors& gradient, const std::function<double()>& loss) {
  for (const auto& [name, tensor] : model.parameters()) {
    const at::Tensor before = tensor.clone();
    const double norm = gradient.at(name).norm().item<double>();
    EXPECT_GT(norm, 1e-3) << name;
    const double step = 2e-2 / norm;
    at::Tensor weight = tensor;
    weight.copy_(before + step * gradient.at(name));
    const double up = loss();
    weight.copy_(before - step * gradient.at(name));
    const double down = loss();
    weight.copy_(before);
    EXPECT_NEAR((up - down) / (2 * step * norm), norm, 5e-3 * norm) << name;
  }
}

double loss_of(const CharLstm& model, const std::vector<Sentence>& texts) {
  NamedTensors nothing;
  return model.add_gradient(texts, 1, nothing);
}

struct Case {
  const char* name;
  double dropout;
  Perturbation perturbation;
};

class CharLstmSlopes : public testing::TestWithParam<Case> {};

TEST_P(CharLstmSlopes, AreTheGradient) {
  CharLstmConfig config = small_char_config();
  config.dropout = GetParam().dropout;
  const auto model = small_char_lstm(config);
  const std::vector<Sentence> texts = small_texts();
  const double undisturbed = loss_of(*model, texts);
  EXPECT_NEAR(undisturbed, total(model->negative_log_likelihood(texts)), 1e-6 * undisturbed)
      << "without a seed nothing is drawn";
  model->perturb(GetParam().perturbation);
  model->randomise(Seed(4));
  NamedTensors gradient = zero_gradient(*model);
  const double loss = model->add_gradient(texts, 1, gradient);
  EXPECT_EQ(loss, loss_of(*model, texts)) << "the same seed draws the same";
  if (config.dropout > 0 || GetParam().perturbation.any()) {
    EXPECT_NE(loss, undisturbed);
    model->randomise(Seed(5));
    EXPECT_NE(loss, loss_of(*model, texts));
    model->randomise(Seed(4));
  }
  expect_slopes(*model, gradient, [&] { return loss_of(*model, texts); });
  EXPECT_EQ(total(model->negative_log_likelihood(texts)),
            total(model->clone()->negative_log_likelihood(texts)));
}

INSTANTIATE_TEST_SUITE_P(
    , CharLstmSlopes,
    testing::Values(Case{"plain", 0, {}}, Case{"dropout", 0.4, {}},
                    Case{"embedding_noise", 0, {.embedding_noise = 0.5}},
                    Case{"embedding_dropout", 0, {.embedding_dropout = 0.3}},
                    Case{"other_layer_dropout", 0, {.layer_dropout = 0.5}},
                    Case{"all_that_is_drawn",
                         0.1,
                         {.embedding_noise = 0.3, .embedding_dropout = 0.2, .layer_dropout = 0.3}}),
    [](const auto& one) { return one.param.name; });

TEST(CharLstm, LayerDropoutStandsInPlaceOfTheConfigs) {
  CharLstmConfig config = small_char_config();
  config.dropout = 0.4;
  const auto model = small_char_lstm(config);
  const std::vector<Sentence> texts = small_texts();
  model->randomise(Seed(1));
  model->perturb({.layer_dropout = 0.0});
  EXPECT_NEAR(loss_of(*model, texts), total(model->negative_log_likelihood(texts)), 1e-4);
}

// A dropped unit is zero and the others are scaled up: a layer's output keeps its mean.
TEST(CharLstm, DropoutKeepsTheMean) {
  CharLstmConfig config = small_char_config(1);
  config.dropout = 0.25;
  const auto model = small_char_lstm(config);
  const std::vector<Sentence> texts = {{1, 2}};
  // The decoder's weight gradient of one row is d_logits h': its zero columns are the dropped units.
  std::int64_t dropped = 0;
  constexpr int kDraws = 400;
  for (int i = 0; i < kDraws; ++i) {
    model->randomise(Seed(static_cast<std::uint64_t>(i)));
    NamedTensors gradient;
    gradient["decoder.weight"] = at::zeros_like(model->parameters().at("decoder.weight"));
    model->add_gradient(texts, 1, gradient);
    dropped += (gradient.at("decoder.weight").abs().sum(0) == 0).sum().item<std::int64_t>();
  }
  const double draws = kDraws * static_cast<double>(config.units);
  EXPECT_NEAR(static_cast<double>(dropped) / draws, 0.25, 4 * std::sqrt(0.25 * 0.75 / draws));
}

// Where every character stands once, a step on what comes out of the embedding is a step on its rows.
TEST(CharLstm, AdversarialTrainingIsTheMeanOfTwoLosses) {
  const auto model = small_char_lstm(small_char_config());
  const std::vector<Sentence> texts = {{3, 1, 4, 8, 9, 2}};
  constexpr double kEpsilon = 0.5;
  NamedTensors plain = zero_gradient(*model), shifted = zero_gradient(*model), both = zero_gradient(*model);
  const double clean = model->add_gradient(texts, 1, plain);
  const at::Tensor& g = plain.at("embedding.weight");
  const auto harder = model->clone();
  at::Tensor table = harder->parameters().at("embedding.weight");
  table.add_(g, kEpsilon / g.norm().item<double>());
  const double hard = harder->add_gradient(texts, 1, shifted);
  EXPECT_GT(hard, clean);
  model->perturb({.adversarial = kEpsilon});
  EXPECT_NEAR(model->add_gradient(texts, 1, both), (clean + hard) / 2, 1e-5 * hard);
  for (const auto& [name, d] : both)
    EXPECT_LT(relative_difference(d, (plain.at(name) + shifted.at(name)) / 2), 1e-5) << name;

  // And the slope of that mean, the step held fixed.
  auto& fixed = dynamic_cast<CharLstm&>(*harder);
  const NamedTensors step = {
      {"embedding.weight", (table - model->parameters().at("embedding.weight")).clone()}};
  expect_slopes(*model, both, [&] {
    for (const auto& [name, tensor] : fixed.parameters()) {
      at::Tensor to = tensor;
      to.copy_(model->parameters().at(name));
    }
    table.add_(step.at("embedding.weight"));
    return (total(model->negative_log_likelihood(texts)) + total(fixed.negative_log_likelihood(texts))) / 2;
  });
}

TEST(CharLstm, GradientIsScaledAddedAndOnlyOfWhatIsAskedFor) {
  const auto model = small_char_lstm(small_char_config());
  const std::vector<Sentence> texts = small_texts();
  NamedTensors once = zero_gradient(*model), half = zero_gradient(*model);
  model->add_gradient(texts, 1, once);
  for (auto& [name, g] : half) g.fill_(1);
  model->add_gradient(texts, 0.5, half);
  for (const auto& [name, g] : half) {
    EXPECT_TRUE(at::allclose(g, 1 + 0.5 * once.at(name), 1e-4, 1e-5)) << name;
    NamedTensors alone = {{name, at::zeros_like(g)}};
    model->add_gradient(texts, 1, alone);
    EXPECT_TRUE(at::equal(alone.at(name), once.at(name))) << name;
  }
}

TEST(CharLstm, WeightedGradientIsTheSumOfWeightedOnes) {
  CharLstmConfig config = small_char_config();
  for (const Perturbation& perturbation : {Perturbation{}, Perturbation{.adversarial = 0.5}}) {
    const auto model = small_char_lstm(config);
    model->perturb(perturbation);
    const std::vector<Sentence> texts = small_texts();
    const std::vector<double> weights = {0.5, -2, 7, 1, 3, 0, 1.25};
    NamedTensors weighted = zero_gradient(*model), sum = zero_gradient(*model);
    const double loss = model->add_weighted_gradient(texts, weights, weighted);
    double alone = 0;
    for (std::size_t i = 0; i < texts.size(); ++i)
      alone += model->add_gradient(std::span(texts).subspan(i, 1), weights[i], sum);
    // A sentence of no weight has no direction that makes it harder.
    if (!perturbation.any()) {
      EXPECT_NEAR(loss, alone, 1e-6 * alone);
    }
    for (const auto& [name, g] : weighted) EXPECT_LT(relative_difference(g, sum.at(name)), 1e-5) << name;
  }
}

TEST(CharLstm, NormsAreThoseOfEachSentencesOwnGradient) {
  const Perturbation perturbations[] = {
      {}, {.adversarial = 0.5}, {.embedding_noise = 0.2, .embedding_dropout = 0.3, .adversarial = 0.5}};
  // Few steps against many units, and the other way round: the two forms of the norm.
  CharLstmConfig wide = small_char_config(), narrow = small_char_config();
  narrow.units = 3;
  narrow.embedding = 2;
  std::vector<Sentence> texts = small_texts();
  texts.push_back(random_texts(3, 1, 60, 60, 11)[0]);
  for (CharLstmConfig config : {wide, narrow})
    for (const Perturbation& perturbation : perturbations) {
      config.dropout = 0.3;
      const auto model = small_char_lstm(config);
      model->perturb(perturbation);
      model->randomise(Seed(9));
      std::vector<std::vector<std::string>> choices = {model->parameter_order()};
      for (const std::string& name : model->parameter_order()) choices.push_back({name});
      for (const std::vector<std::string>& names : choices) {
        const std::vector<double> norms = model->gradient_norms(texts, names);
        ASSERT_EQ(norms.size(), texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
          std::vector<double> only(texts.size(), 0.0);  // what is drawn hangs on the sentence's place
          only[i] = 1;
          NamedTensors gradient;
          for (const std::string& name : names) gradient[name] = at::zeros_like(model->parameters().at(name));
          model->add_weighted_gradient(texts, only, gradient);
          double squares = 0;
          for (const auto& [name, g] : gradient) squares += g.to(at::kDouble).square().sum().item<double>();
          EXPECT_NEAR(norms[i], std::sqrt(squares), 1e-5 * std::sqrt(squares) + 1e-9)
              << names.front() << " of " << names.size() << ", sentence " << i;
        }
      }
    }
}

TEST(CharLstm, GivesTheSameBytesForAnyNumberOfThreads) {
  const auto texts = random_texts(4, 150, 2, 25, 40);
  NamedTensors result[3];
  std::vector<double> nll[3], norms[3];
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    const auto model = CharLstm::random(
        {.vocabulary = 40, .embedding = 20, .units = 40, .layers = 2, .dropout = 0.2}, Seed(8));
    model->perturb({.embedding_noise = 0.1, .adversarial = 0.1});
    for (std::uint64_t step = 0; step < 3; ++step) {
      model->randomise(Seed(step));
      model->descend(texts, 1e-3, model->trainable(true));
    }
    result[count - 1] = model->parameters();
    nll[count - 1] = model->negative_log_likelihood(texts);
    norms[count - 1] = model->gradient_norms(texts, model->trainable(true));
  }
  set_threads(0);
  for (const int other : {1, 2}) {
    EXPECT_EQ(nll[0], nll[other]);
    EXPECT_EQ(norms[0], norms[other]);
    for (const auto& [name, weight] : result[0])
      EXPECT_EQ(std::memcmp(weight.data_ptr(), result[other].at(name).data_ptr(), weight.nbytes()), 0)
          << name;
  }
}

// Gates and logits far outside of what exp can hold.
TEST(CharLstm, StaysFiniteWhereGatesAndLogitsAreExtreme) {
  const auto model = small_char_lstm(small_char_config());
  for (const auto& [name, tensor] : model->parameters()) {
    at::Tensor weight = tensor;
    weight.mul_(300);
  }
  NamedTensors gradient = zero_gradient(*model);
  EXPECT_TRUE(std::isfinite(model->add_gradient(small_texts(), 1, gradient)));
  for (const auto& [name, g] : gradient) EXPECT_TRUE(g.isfinite().all().item<bool>()) << name;
}

}  // namespace
}  // namespace undertext
