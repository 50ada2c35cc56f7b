#include "models/training.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/threads.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

const CifgConfig kSmall{.vocabulary = 40, .embedding = 8, .units = 16, .tied = true};

// A language in which each word fixes the next: w, w + 7, w + 14, ... modulo the vocabulary.
std::vector<Sentence> chains(std::size_t count) {
  Random random(Seed(5));
  std::vector<Sentence> result(count);
  for (Sentence& sentence : result) {
    auto word = static_cast<Token>(3 + random.below(37));
    for (int i = 0; i < 5; ++i, word = 3 + (word + 4) % 37) sentence.push_back(word);
  }
  return result;
}

TEST(Training, LearnsALanguageThatCanBeLearned) {
  const auto texts = chains(600);
  const auto model = CifgLstm::random(kSmall, Seed(1));
  const double before = perplexity(*model, texts);
  const double after =
      train_model(*model, texts, chains(50), {.epochs = 20, .batch = 20, .learning_rate = 0.02}, Seed(2))
          .perplexity;
  EXPECT_GT(before, 25);
  // Only the first of five words is open: 37^(1/5) = 2.06.
  EXPECT_LT(after, 2.2);
  EXPECT_GT(after, 1.9);
}

TEST(Training, FirstStepMovesEachWeightByTheLearningRate) {
  // Adam's first step is rate * sign(gradient), as long as epsilon is small beside it.
  const auto model = CifgLstm::random(kSmall, Seed(1));
  const auto before = model->clone();
  const auto texts = chains(64);
  NamedTensors gradient;
  for (const auto& [name, weight] : before->parameters()) gradient[name] = torch::zeros_like(weight);
  before->add_gradient(texts, 1.0 / 320, gradient);
  train_model(*model, texts, texts, {.epochs = 1, .batch = 64, .learning_rate = 0.01}, Seed(2));
  for (const auto& [name, weight] : model->parameters()) {
    const at::Tensor sure = gradient.at(name).abs() > 1e-5;
    const at::Tensor wanted = before->parameters().at(name) - 0.01 * gradient.at(name).sign();
    EXPECT_GT(sure.sum().item<std::int64_t>(), 0) << name;
    EXPECT_LT((weight - wanted).masked_select(sure).abs().max().item<double>(), 2e-5) << name;
  }
}

TEST(Training, StopsAtAStepOfTheWholeTraining) {
  const auto texts = chains(60);
  const Training whole{.epochs = 3, .batch = 16, .patience = 2};
  std::string at_five;
  auto model = CifgLstm::random(kSmall, Seed(1));
  const TrainingResult all = train_model(*model, texts, texts, whole, Seed(2), [&](std::int64_t step) {
    if (step == 5) at_five = hash_of(model->parameters());
  });
  EXPECT_EQ(all.steps, 12);
  Training some = whole;
  some.stop_after = 5;
  model = CifgLstm::random(kSmall, Seed(1));
  const TrainingResult result = train_model(*model, texts, texts, some, Seed(2));
  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(hash_of(model->parameters()), at_five);
}

TEST(Training, TakesGradientsFromElsewhere) {
  const auto texts = chains(32);
  const auto plain = CifgLstm::random(kSmall, Seed(1)), same = CifgLstm::random(kSmall, Seed(1)),
             none = CifgLstm::random(kSmall, Seed(1));
  Training training{.epochs = 1, .batch = 16};
  train_model(*plain, texts, texts, training, Seed(2));
  training.gradient = [&](std::span<const Sentence> batch, std::int64_t, NamedTensors& gradient) {
    const double mean = 1 / static_cast<double>(same->predicted(batch));
    return mean * same->add_gradient(batch, mean, gradient);
  };
  train_model(*same, texts, texts, training, Seed(2));
  EXPECT_EQ(hash_of(plain->parameters()), hash_of(same->parameters()));
  training.gradient = [](std::span<const Sentence>, std::int64_t, NamedTensors&) { return 1.0; };
  train_model(*none, texts, texts, training, Seed(2));
  EXPECT_EQ(hash_of(none->parameters()), hash_of(CifgLstm::random(kSmall, Seed(1))->parameters()));
}

TEST(Training, GivesTheSameBytesForTheSameSeedWhateverTheThreads) {
  const auto texts = chains(100);
  std::string hashes[3];
  for (const int i : {0, 1, 2}) {
    set_threads(i == 0 ? 1 : 2);
    const auto model = CifgLstm::random(kSmall, Seed(1));
    train_model(*model, texts, texts, {.epochs = 2, .batch = 16}, Seed(i == 2 ? 3 : 2));
    hashes[i] = hash_of(model->parameters());
  }
  set_threads(0);
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], hashes[2]) << "the seed must decide the order";
}

TEST(Training, SaysWhenItDiverges) {
  const auto model = CifgLstm::random(kSmall, Seed(1));
  const auto texts = chains(100);
  EXPECT_THROW(train_model(*model, texts, texts, {.epochs = 5, .batch = 4, .learning_rate = 1e38}, Seed(2)),
               UserError);
}

TEST(Training, DecaysMatricesAlone) {
  const auto texts = chains(64);
  const auto plain = CifgLstm::random(kSmall, Seed(1)), decayed = CifgLstm::random(kSmall, Seed(1));
  const auto before = plain->clone();
  Training training{.epochs = 1, .batch = 64, .learning_rate = 0.01};
  train_model(*plain, texts, texts, training, Seed(2));
  training.adam.weight_decay = 0.5;
  train_model(*decayed, texts, texts, training, Seed(2));
  // One step: the weight before it, times rate and decay.
  for (const auto& [name, weight] : plain->parameters()) {
    const at::Tensor gap = weight - decayed->parameters().at(name);
    const at::Tensor wanted = before->parameters().at(name) * (weight.dim() > 1 ? 0.005 : 0.0);
    EXPECT_LT((gap - wanted).abs().max().item<double>(), 1e-6) << name;
  }
}

TEST(Training, StopsWhenHeldOutTextsGetWorse) {
  // Held-out texts of another language: what is learnt makes them less likely.
  std::vector<Sentence> other = chains(50);
  for (Sentence& sentence : other) std::reverse(sentence.begin(), sentence.end());
  const auto model = CifgLstm::random(kSmall, Seed(1));
  const TrainingResult result = train_model(
      *model, chains(200), other, {.epochs = 50, .batch = 20, .learning_rate = 0.02, .patience = 3}, Seed(2));
  EXPECT_TRUE(result.stopped_early);
  EXPECT_LT(result.epochs, 20);
  EXPECT_NEAR(result.perplexity, perplexity(*model, other), 1e-9) << "the best epoch's weights are kept";
}

TEST(InterruptedTraining, GoesOnWhereItWasAndEndsWithTheSameBytes) {
  const TemporaryFolder folder;
  const auto texts = chains(60);
  Training training{.epochs = 3, .batch = 16, .learning_rate = 0.01, .patience = 5};
  const auto whole = CifgLstm::random(kSmall, Seed(1));
  train_model(*whole, texts, texts, training, Seed(2));

  // What the interrupted run left behind in its second epoch (4 batches each): made by a run of that length.
  training.checkpoint = folder / "checkpoint.safetensors";
  const auto again = CifgLstm::random(kSmall, Seed(1));
  {
    const auto part = CifgLstm::random(kSmall, Seed(1));
    EXPECT_THROW(train_model(*part, texts, texts, training, Seed(2),
                             [](std::int64_t step) {
                               if (step == 6) throw std::runtime_error("power cut");
                             }),
                 std::runtime_error);
    EXPECT_TRUE(std::filesystem::exists(training.checkpoint));
  }
  const TrainingResult result = train_model(*again, texts, texts, training, Seed(2));
  EXPECT_EQ(result.resumed_at, 6);
  EXPECT_EQ(hash_of(again->parameters()), hash_of(whole->parameters()));
  EXPECT_FALSE(std::filesystem::exists(training.checkpoint)) << "it is done";
}

TEST(InterruptedTraining, RefusesTheCheckpointOfAnotherTraining) {
  const TemporaryFolder folder;
  const auto texts = chains(60);
  Training training{.epochs = 3, .batch = 16};
  training.checkpoint = folder / "checkpoint.safetensors";
  const auto stop = [](std::int64_t step) {
    if (step == 2) throw std::runtime_error("power cut");
  };
  auto model = CifgLstm::random(kSmall, Seed(1));
  EXPECT_THROW(train_model(*model, texts, texts, training, Seed(2), stop), std::runtime_error);
  training.learning_rate *= 2;
  model = CifgLstm::random(kSmall, Seed(1));
  EXPECT_THROW(train_model(*model, texts, texts, training, Seed(2)), UserError);
  std::ofstream(training.checkpoint) << "not a checkpoint";
  EXPECT_THROW(train_model(*model, texts, texts, training, Seed(2)), UserError);
}

TEST(Perplexity, IsTheVocabularyForAModelThatKnowsNothing) {
  const auto model = CifgLstm::random(kSmall, Seed(1));
  for (const auto& [name, weight] : model->parameters()) {
    at::Tensor handle = weight;
    handle.zero_();
  }
  EXPECT_NEAR(perplexity(*model, chains(3)), 40, 1e-4);
}

}  // namespace
}  // namespace undertext
