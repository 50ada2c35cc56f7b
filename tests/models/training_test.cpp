#include "models/training.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
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
      train_model(*model, texts, chains(50), {.epochs = 20, .batch = 20, .learning_rate = 0.02}, Seed(2));
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
