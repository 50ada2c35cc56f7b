// Clients whose model is a character LSTM: texts as streams, states carried along them, perturbed training.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "federated/clients.h"
#include "federated/local_training.h"
#include "models/char_lstm/char_lstm.h"

namespace undertext {
namespace {

std::unique_ptr<CharLstm> small_lstm(double dropout = 0) {
  return CharLstm::random({.vocabulary = 12, .embedding = 4, .units = 5, .layers = 2, .dropout = dropout},
                          Seed(1));
}

ClientTexts stream(std::size_t tokens) {
  Random random{Seed(3)};
  ClientTexts texts;
  texts.sequence = 6;
  texts.texts.emplace_back();
  while (texts.texts[0].size() < tokens) texts.texts[0].push_back(static_cast<Token>(random.below(12)));
  return texts;
}

LocalTraining plain() {
  return {.epochs = 2,
          .batch = 3,
          .learning_rate = 0.1,
          .reduction = Reduction::mean,
          .train_embedding = true,
          .seed = Seed(9)};
}

double distance(const NamedTensors& left, const NamedTensors& right) {
  double most = 0;
  for (const auto& [name, tensor] : left)
    most = std::max(most, (tensor - right.at(name)).abs().max().item<double>());
  return most;
}

TEST(CarriedState, LanesAreRunsThroughTheText) {
  ClientTexts texts;
  texts.sequence = 4;
  texts.texts.emplace_back();
  for (Token i = 0; i < 60; ++i) texts.texts[0].push_back(i);
  const std::vector<Sentence> epoch = epoch_in_lanes(texts, 1, 3, Seed(2));
  ASSERT_EQ(epoch.size() % 3, 0u);
  ASSERT_GE(epoch.size(), 12u);
  // Each sequence begins with the last token of the one three places before: the same lane's last.
  for (std::size_t i = 3; i < epoch.size(); ++i) EXPECT_EQ(epoch[i].front(), epoch[i - 3].back());
  EXPECT_NE(epoch[1].front(), epoch[0].back());
  // Fewer sequences than lanes: one step.
  EXPECT_LE(epoch_in_lanes(texts, 1, 100, Seed(2)).size(), 15u);
}

// The same steps by hand.
TEST(CarriedState, EveryStepReadsOnWhereTheLastOneEnded) {
  const auto base = small_lstm();
  const ClientTexts texts = stream(200);
  LocalTraining training = plain();
  training.carry_state = true;
  const Update update = train_locally(*base, texts, training, "");
  const auto by_hand = base->clone();
  auto& lstm = dynamic_cast<CharLstm&>(*by_hand);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const std::vector<Sentence> order =
        epoch_in_lanes(texts, 1, 3, training.seed.derive("epoch").derive(epoch));
    LstmState carried;
    for (std::size_t first = 0; first < order.size(); first += 3) {
      NamedTensors gradient;
      for (const auto& [name, tensor] : lstm.parameters()) gradient[name] = torch::zeros_like(tensor);
      lstm.add_gradient_from(carried, std::span(order).subspan(first, 3), 1.0 / 18, gradient);
      for (const auto& [name, g] : gradient) {
        at::Tensor weight = lstm.parameters().at(name);
        weight.sub_(g, 0.1);
      }
    }
  }
  EXPECT_LT(distance(update.tensors, lstm.parameters()), 1e-6);
  EXPECT_GT(distance(update.tensors, base->parameters()), 1e-3);
  training.carry_state = false;
  EXPECT_GT(distance(update.tensors, train_locally(*base, texts, training, "").tensors), 1e-4);
}

TEST(CarriedState, WhatCannotCarryOneSaysSo) {
  const auto complaint = [](const LanguageModel& model, const ClientTexts& texts, Defences defences = {}) {
    LocalTraining training = plain();
    training.carry_state = true;
    try {
      train_locally(model, texts, training, "", defences);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(complaint(*tiny_model(), stream(100)).find("cifg-lstm has no state to carry"), std::string::npos);
  ClientTexts lines = stream(100);
  lines.sequence = 0;
  EXPECT_NE(complaint(*small_lstm(), lines).find("along a stream of text"), std::string::npos);
  class Bound : public ClientDefence {
    double sentence_bound() const override { return 1; }
  };
  const std::vector<std::shared_ptr<const ClientDefence>> bound = {std::make_shared<Bound>()};
  EXPECT_NE(complaint(*small_lstm(), stream(100), bound).find("under a bound"), std::string::npos);
}

class Perturbed : public ClientDefence {
 public:
  explicit Perturbed(Perturbation perturbation) : perturbation_(perturbation) {}
  void on_perturbation(Perturbation& perturbation) const override { perturbation = perturbation_; }

 private:
  Perturbation perturbation_;
};

TEST(PerturbedTraining, ReachesTheModelOfTheClientAndNoOther) {
  const auto base = small_lstm();
  const ClientTexts texts = stream(150);
  const NamedTensors clean = train_locally(*base, texts, plain(), "").tensors;
  for (const Perturbation& perturbation :
       {Perturbation{.embedding_noise = 0.5}, Perturbation{.embedding_dropout = 0.5},
        Perturbation{.adversarial = 0.5}, Perturbation{.layer_dropout = 0.5}}) {
    const std::vector<std::shared_ptr<const ClientDefence>> defences = {
        std::make_shared<Perturbed>(perturbation)};
    const NamedTensors trained = train_locally(*base, texts, plain(), "", defences).tensors;
    EXPECT_GT(distance(trained, clean), 1e-4);
    EXPECT_EQ(hash_of(train_locally(*base, texts, plain(), "", defences).tensors), hash_of(trained));
  }
  EXPECT_EQ(hash_of(train_locally(*base, texts, plain(), "").tensors), hash_of(clean));
}

TEST(PerturbedTraining, TheConfigsDropoutIsDrawnFromTheSeed) {
  const auto base = small_lstm(0.3);
  LocalTraining training = plain();
  ClientTexts texts = stream(20);
  texts.sequence = 0;  // one text: nothing is drawn but dropout
  const NamedTensors one = train_locally(*base, texts, training, "").tensors;
  training.seed = Seed(10);
  EXPECT_GT(distance(train_locally(*base, texts, training, "").tensors, one), 1e-5);
  training.dropout = false;
  const NamedTensors none = train_locally(*base, texts, training, "").tensors;
  training.seed = Seed(9);
  EXPECT_EQ(hash_of(train_locally(*base, texts, training, "").tensors), hash_of(none));
}

}  // namespace
}  // namespace undertext
