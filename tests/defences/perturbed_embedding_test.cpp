#include "defences/perturbed_embedding.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "base/error.h"
#include "federated/local_training.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

std::string complaint(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(PerturbedEmbedding, EachSetsItsOwn) {
  Perturbation perturbation;
  NoisedEmbedding(0.01).on_perturbation(perturbation);
  EXPECT_EQ(perturbation.embedding_noise, 0.01);
  DropoutEmbedding(0.5).on_perturbation(perturbation);
  EXPECT_EQ(perturbation.embedding_dropout, 0.5);
  AdversarialEmbedding(1).on_perturbation(perturbation);
  EXPECT_EQ(perturbation.adversarial, 1);
  EXPECT_FALSE(perturbation.layer_dropout.has_value());
  LayerDropout(0).on_perturbation(perturbation);  // none at all, in place of the model's own
  EXPECT_EQ(perturbation.layer_dropout, 0.0);
}

TEST(PerturbedEmbedding, NumbersThatMakeNoSenseAreRefused) {
  const double nan = std::nan(""), infinite = INFINITY;
  for (const double wrong : {-0.1, nan, infinite}) {
    EXPECT_NE(complaint([&] { NoisedEmbedding{wrong}; }).find("noised embedding"), std::string::npos);
    EXPECT_NE(complaint([&] { AdversarialEmbedding{wrong}; }).find("adversarial embedding"),
              std::string::npos);
  }
  for (const double wrong : {-0.1, 1.0, nan, infinite}) {
    EXPECT_NE(complaint([&] { DropoutEmbedding{wrong}; }).find("dropout embedding: a rate of"),
              std::string::npos);
    EXPECT_NE(complaint([&] { LayerDropout{wrong}; }).find("lstm dropout: a rate of"), std::string::npos);
  }
}

TEST(PerturbedEmbedding, TheSameTwiceIsRefused) {
  Perturbation perturbation;
  NoisedEmbedding(0.01).on_perturbation(perturbation);
  EXPECT_EQ(complaint([&] { NoisedEmbedding(0.02).on_perturbation(perturbation); }),
            "noised embedding: given twice, expected it once");
  LayerDropout(0).on_perturbation(perturbation);
  EXPECT_NE(complaint([&] { LayerDropout(0.2).on_perturbation(perturbation); }), "nothing");
}

TEST(PerturbedEmbedding, AModelThatCannotSaysSo) {
  const auto model = CifgLstm::random({.vocabulary = 30, .embedding = 4, .units = 6}, Seed(1));
  const std::vector<Sentence> texts = {{5, 6, 7}};
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {
      std::make_shared<DropoutEmbedding>(0.1)};
  EXPECT_NE(complaint([&] { train_locally(*model, texts, {}, "", defences); }).find("cifg-lstm cannot train"),
            std::string::npos);
}

// What every step adds to the embedding's weights leaves with them.
TEST(PerturbedEmbedding, NoiseInTheWeightsStaysAndAddsUp) {
  const auto model = CifgLstm::random({.vocabulary = 400, .embedding = 16, .units = 6}, Seed(1));
  const std::string name = *model->parameter_of(Role::token_embedding);
  const std::vector<Sentence> texts(9, Sentence{5, 6, 7});
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {
      std::make_shared<NoisedEmbedding>(0.1, EmbeddingNoise::weights)};
  LocalTraining training{.batch = 1, .learning_rate = 1e-9, .train_embedding = true};
  const auto moved = [&] {
    const Update update = train_locally(*model, texts, training, "", defences);
    return (update.tensors.at(name) - model->parameters().at(name)).std().item<double>();
  };
  EXPECT_NEAR(moved(), 0.1 * 3, 0.02);  // nine steps
  training.batch = 9;
  EXPECT_NEAR(moved(), 0.1, 0.005);
  training.train_embedding = false;  // it is not sent then
  EXPECT_FALSE(train_locally(*model, texts, training, "", defences).tensors.contains(name));
  Perturbation nothing;
  defences.front()->on_perturbation(nothing);
  EXPECT_FALSE(nothing.any());
}

}  // namespace
}  // namespace undertext
