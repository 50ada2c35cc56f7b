#include "federated/local_training.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstring>

#include "base/error.h"
#include "base/threads.h"
#include "federated/clients.h"
#include "models/cifg_reference.h"
#include "models/load_model.h"

namespace undertext {
namespace {

const std::string kHash(64, 'a');

std::string training_error(const LocalTraining& training, std::span<const Sentence> sentences = kTexts) {
  try {
    train_locally(*tiny_model(), sentences, training, kHash);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// Algorithm 1 by autograd, in double.
NamedTensors reference_training(const CifgLstm& base, const LocalTraining& training) {
  NamedTensors p = reference_parameters(base.parameters());
  if (training.zero_output_bias) p.at("decoder.bias") = torch::zeros({30}, torch::kDouble).requires_grad_();
  const std::size_t batch = training.batch == 0 ? kTexts.size() : static_cast<std::size_t>(training.batch);
  for (std::int64_t epoch = 0; epoch < training.epochs; ++epoch)
    for (std::size_t first = 0; first < kTexts.size(); first += batch) {
      const auto texts = std::span(kTexts).subspan(first, std::min(batch, kTexts.size() - first));
      at::Tensor loss = reference_loss(base.config(), p, texts);
      double words = 0;
      for (const Sentence& sentence : texts) words += static_cast<double>(sentence.size());
      if (training.reduction == Reduction::mean) loss = loss / words;
      for (auto& [name, tensor] : p) tensor.mutable_grad() = at::Tensor();
      loss.backward();
      torch::NoGradGuard no_gradient;
      for (const std::string& name : base.trainable(training.train_embedding))
        p.at(name).sub_(training.learning_rate * p.at(name).grad());
    }
  return p;
}

struct Case {
  const char* name;
  LocalTraining training;
};

class LocalTrainingTest : public testing::TestWithParam<Case> {};

TEST_P(LocalTrainingTest, EqualsAutogradStepByStep) {
  const auto base = tiny_model();
  const std::string before = hash_of(base->parameters());
  const LocalTraining& training = GetParam().training;
  const Update update = train_locally(*base, kTexts, training, kHash);
  const NamedTensors wanted = reference_training(*base, training);
  std::vector<std::string> names;
  for (const auto& [name, weight] : update.tensors) {
    names.push_back(name);
    const at::Tensor moved = weight.to(torch::kDouble) - base->parameters().at(name).to(torch::kDouble);
    const at::Tensor should = wanted.at(name).detach() - base->parameters().at(name).to(torch::kDouble);
    EXPECT_GT(should.abs().max().item<double>(), 1e-3) << name;
    EXPECT_LT((moved - should).abs().max().item<double>(), 1e-6) << name;
  }
  EXPECT_EQ(names, base->trainable(training.train_embedding));
  EXPECT_EQ(hash_of(base->parameters()), before) << "the base must not change";
  EXPECT_EQ(update.protocol.count, 5);
  EXPECT_EQ(update.protocol.batch, training.batch);
  EXPECT_EQ(update.protocol.epochs, training.epochs);
  EXPECT_EQ(update.protocol.reduction, training.reduction);
  EXPECT_EQ(update.protocol.zero_output_bias, training.zero_output_bias);
  EXPECT_EQ(update.protocol.base_hash, kHash);
}

INSTANTIATE_TEST_SUITE_P(
    , LocalTrainingTest,
    testing::Values(
        Case{"fedsgd", {.learning_rate = 0.1}},
        Case{"fedavg", {.epochs = 3, .batch = 2, .learning_rate = 0.1}},
        Case{"mean", {.epochs = 2, .batch = 2, .learning_rate = 0.5, .reduction = Reduction::mean}},
        Case{"embedding", {.epochs = 2, .batch = 3, .learning_rate = 0.1, .train_embedding = true}},
        Case{"zero_bias", {.epochs = 2, .learning_rate = 0.1, .zero_output_bias = true}}),
    [](const auto& one) { return one.param.name; });

TEST(LocalTraining, SendsTheGradientItselfWhenAsked) {
  const auto base = tiny_model();
  const Update gradient =
      train_locally(*base, kTexts, {.reduction = Reduction::mean, .kind = UpdateKind::gradient}, kHash);
  NamedTensors p = reference_parameters(base->parameters());
  (reference_loss(base->config(), p, kTexts) / 12).backward();
  EXPECT_EQ(gradient.tensors.size(), 6u);
  for (const auto& [name, g] : gradient.tensors)
    EXPECT_LT((g - p.at(name).grad()).abs().max().item<double>(), 1e-6) << name;
}

// A defence that leaves a trace wherever it is called.
class Trace : public ClientDefence {
 public:
  bool acts_on_gradient() const override { return true; }
  void on_gradient(NamedTensors& gradient, std::int64_t step) const override {
    for (auto& [name, g] : gradient) g.fill_(static_cast<float>(step + 1));
  }
  void on_result(NamedTensors& result) const override {
    for (auto& [name, tensor] : result) tensor.add_(100);
  }
};

TEST(LocalTraining, LetsDefencesChangeEachGradientAndTheResult) {
  const auto base = tiny_model();
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {std::make_shared<Trace>()};
  const Update update =
      train_locally(*base, kTexts, {.epochs = 2, .batch = 3, .learning_rate = 0.5}, kHash, defences);
  // Four steps: theta - .5 (1 + 2 + 3 + 4), then + 100.
  for (const auto& [name, weight] : update.tensors)
    EXPECT_TRUE(torch::allclose(weight, base->parameters().at(name) - 5 + 100, 1e-5)) << name;
}

// Step by step by torch's own Adam, on the mean loss, each number of the gradient cut to a tenth.
TEST(LocalTraining, AdamAndClippingEqualTorchs) {
  const auto base = tiny_model();
  const LocalTraining training{.epochs = 3,
                               .batch = 2,
                               .learning_rate = 0.05,
                               .reduction = Reduction::mean,
                               .train_embedding = true,
                               .optimiser = Optimiser::adam,
                               .clip_value = 0.02};
  const Update update = train_locally(*base, kTexts, training, kHash);
  NamedTensors p = reference_parameters(base->parameters());
  std::vector<at::Tensor> list;
  for (const std::string& name : base->trainable(true)) list.push_back(p.at(name));
  torch::optim::Adam adam(list, torch::optim::AdamOptions(0.05));
  bool clipped = false;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (std::size_t first = 0; first < kTexts.size(); first += 2) {
      const auto texts = std::span(kTexts).subspan(first, std::min<std::size_t>(2, kTexts.size() - first));
      double words = 0;
      for (const Sentence& sentence : texts) words += static_cast<double>(sentence.size());
      adam.zero_grad();
      (reference_loss(base->config(), p, texts) / words).backward();
      for (at::Tensor& tensor : list) {
        clipped = clipped || tensor.grad().abs().max().item<double>() > 0.02;
        tensor.mutable_grad().clamp_(-0.02, 0.02);
      }
      adam.step();
    }
  EXPECT_TRUE(clipped);
  for (const auto& [name, weight] : update.tensors)
    EXPECT_LT((weight.to(torch::kDouble) - p.at(name).detach()).abs().max().item<double>(), 2e-4) << name;
}

TEST(LocalTraining, ClipsPlainStepsByNormAndByValue) {
  const auto base = tiny_model();
  const LocalTraining plain{.learning_rate = 1};
  const Update whole = train_locally(*base, kTexts, plain, kHash);
  double squares = 0;
  for (const auto& [name, weight] : whole.tensors)
    squares += (weight - base->parameters().at(name)).to(torch::kDouble).square().sum().item<double>();
  LocalTraining by_norm = plain, by_value = plain;
  by_norm.clip_norm = std::sqrt(squares) / 4;
  by_value.clip_value = 0.01;
  const Update shorter = train_locally(*base, kTexts, by_norm, kHash),
               cut = train_locally(*base, kTexts, by_value, kHash);
  for (const auto& [name, weight] : whole.tensors) {
    const at::Tensor step = weight - base->parameters().at(name);
    const at::Tensor quarter = shorter.tensors.at(name) - base->parameters().at(name);
    const at::Tensor small = cut.tensors.at(name) - base->parameters().at(name);
    EXPECT_LT((quarter - step / 4).abs().max().item<double>(), 1e-6) << name;
    EXPECT_LT((small - step.clamp(-0.01, 0.01)).abs().max().item<double>(), 1e-6) << name;
  }
  by_norm.clip_norm = 1e9;
  EXPECT_EQ(hash_of(train_locally(*base, kTexts, by_norm, kHash).tensors), [&] {
    LocalTraining same = plain;
    same.clip_value = 1e9;
    return hash_of(train_locally(*base, kTexts, same, kHash).tensors);
  }());
}

TEST(LocalTraining, EpochsOfAClientsTextsAreShuffled) {
  const auto base = tiny_model();
  ClientTexts texts;
  texts.texts = kTexts;
  LocalTraining training{.epochs = 1, .batch = 1, .learning_rate = 0.5};
  const std::string first = hash_of(train_locally(*base, texts, training, kHash).tensors);
  EXPECT_EQ(hash_of(train_locally(*base, texts, training, kHash).tensors), first);
  training.seed = Seed(2);
  EXPECT_NE(hash_of(train_locally(*base, texts, training, kHash).tensors), first);
  training.kind = UpdateKind::gradient;
  EXPECT_THROW(train_locally(*base, texts, training, kHash), UserError);
}

TEST(LocalTraining, GivesTheSameBytesWithOneAndTwoThreads) {
  const auto base = tiny_model();
  std::string hashes[2];
  for (const int count : {1, 2}) {
    set_threads(count);
    hashes[count - 1] = hash_of(
        train_locally(*base, kTexts, {.epochs = 5, .batch = 2, .train_embedding = true}, kHash).tensors);
  }
  set_threads(0);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(LocalTraining, RefusesWhatMakesNoSense) {
  EXPECT_NE(training_error({.epochs = 0}).find("epochs: 0 given"), std::string::npos);
  EXPECT_NE(training_error({.batch = -1}).find("batch: -1 given"), std::string::npos);
  EXPECT_NE(training_error({.learning_rate = 0}).find("learning rate: 0 given"), std::string::npos);
  EXPECT_NE(training_error({.learning_rate = std::nan("")}).find("learning rate"), std::string::npos);
  EXPECT_NE(training_error({.epochs = 2, .kind = UpdateKind::gradient}).find("takes one step"),
            std::string::npos);
  EXPECT_NE(training_error({.batch = 2, .kind = UpdateKind::gradient}).find("takes one step"),
            std::string::npos);
  const std::vector<Sentence> empty = {{}};
  EXPECT_NE(training_error({}, {}).find("no word"), std::string::npos);
  EXPECT_NE(training_error({}, empty).find("no word"), std::string::npos);
}

TEST(LocalTraining, SaysWhenItDiverges) {
  EXPECT_NE(training_error({.epochs = 50, .learning_rate = 1e30}).find("diverged"), std::string::npos);
}

// Table 1 of gboard-next-word, and the same sentence with the model's own bias: theta0 - theta1 of the output
// bias, negative at the typed words and nowhere else. "private" is what the model really gives; the printed
// value repeats that of "learning".
TEST(LocalTraining, ReproducesThePublishedTable) {
  const std::filesystem::path folder = std::filesystem::path(UNDERTEXT_SHARED) / "data/gboard";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const ModelFolder loaded = load_model_folder(folder);
  const std::vector<Sentence> texts = {loaded.tokenizer->encode("learning online is not so private")};
  ASSERT_EQ(texts[0].size(), 6u);
  const std::vector<double> published = {-0.0009951562, -0.0009941629, -0.0009978750,
                                         -0.0009941144, -0.0009965639, -0.0009969121};
  const std::vector<double> true_bias = {-0.0009976625, -0.0009966493, -0.0009682178,
                                         -0.0009536743, -0.0009536743, -0.0009986460};
  for (const bool zero : {true, false}) {
    const Update update = train_locally(
        *loaded.model, texts, {.epochs = 1, .batch = 1, .learning_rate = 0.001, .zero_output_bias = zero},
        loaded.hash);
    at::Tensor before = loaded.model->parameters().at("decoder.bias");
    if (zero) before = torch::zeros_like(before);
    const at::Tensor difference = before - update.tensors.at("decoder.bias");
    EXPECT_EQ((difference < 0).sum().item<std::int64_t>(), 6);
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(difference[texts[0][i]].item<double>(), (zero ? published : true_bias)[i], 1e-8)
          << loaded.tokenizer->token(texts[0][i]) << (zero ? ", zero bias" : ", true bias");
  }
}

}  // namespace
}  // namespace undertext
