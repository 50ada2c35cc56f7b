#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "base/error.h"
#include "base/threads.h"
#include "federated/clients.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

// Four texts of one word each, which nothing else reads. The output bias of a word that was drawn moves by
// its probability less one.
const std::vector<Sentence> kFour = {{10}, {11}, {12}, {13}};

// Writes down which of the words were in a step, and what the step was.
class Notes : public ClientDefence {
 public:
  double sentence_bound() const override { return 1e6; }
  void on_sum(NamedTensors& sum, std::int64_t step) const override {
    EXPECT_EQ(step, std::ssize(drawn));
    drawn.emplace_back();
    const at::Tensor bias = sum.at("decoder.bias");
    for (Token word = 10; word < 14; ++word)
      if (bias[word].item<float>() < -0.5f) drawn.back().insert(word);
    if (drawn.back().empty()) {
      EXPECT_EQ(bias.abs().max().item<float>(), 0);
    }
    last_sum = bias.clone();
  }
  void on_gradient(NamedTensors& gradient, std::int64_t) const override {
    if (mean > 0) {
      EXPECT_TRUE(torch::allclose(gradient.at("decoder.bias") * mean, last_sum, 1e-6, 1e-9));
    }
  }
  double mean = 0;
  mutable std::vector<std::set<Token>> drawn;
  mutable at::Tensor last_sum;
};

LocalTraining poisson(std::int64_t batch, std::int64_t epochs) {
  LocalTraining training;
  training.epochs = epochs;
  training.batch = batch;
  training.learning_rate = 1e-9;
  training.sampling = Sampling::poisson;
  return training;
}

TEST(PoissonSampling, DrawsEachTextOnItsOwn) {
  const auto model = tiny_model();
  const auto notes = std::make_shared<Notes>();
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {notes};
  train_locally(*model, kFour, poisson(1, 1000), "", defences);
  ASSERT_EQ(notes->drawn.size(), 4000u);  // n / batch steps an epoch
  int nobody = 0, first = 0, both = 0;
  for (const auto& step : notes->drawn) {
    nobody += step.empty();
    first += static_cast<int>(step.count(10));
    both += step.contains(10) && step.contains(13);
  }
  EXPECT_NEAR(nobody, 1266, 150);  // (3/4)^4; five deviations
  EXPECT_NEAR(first, 1000, 140);
  EXPECT_NEAR(both, 250, 80);
}

TEST(PoissonSampling, DividesByTheBatchWhateverWasDrawn) {
  const auto model = tiny_model();
  const auto notes = std::make_shared<Notes>();
  notes->mean = 2;
  LocalTraining training = poisson(2, 20);
  training.reduction = Reduction::mean;
  const std::vector<std::shared_ptr<const ClientDefence>> defences = {notes};
  train_locally(*model, kFour, training, "", defences);
  EXPECT_EQ(notes->drawn.size(), 40u);
}

TEST(PoissonSampling, TakesAllWhereTheBatchIsAll) {
  for (const std::int64_t batch : {0, 4, 9}) {
    const auto notes = std::make_shared<Notes>();
    const std::vector<std::shared_ptr<const ClientDefence>> defences = {notes};
    train_locally(*tiny_model(), kFour, poisson(batch, 3), "", defences);
    ASSERT_EQ(notes->drawn.size(), 3u);
    for (const auto& step : notes->drawn) EXPECT_EQ(step.size(), 4u);
  }
}

TEST(PoissonSampling, HangsOnTheSeedAlone) {
  const auto trained = [](std::uint64_t seed, int count, Optimiser optimiser) {
    set_threads(count);
    LocalTraining training = poisson(1, 5);
    training.learning_rate = 0.1;
    training.seed = Seed(seed);
    training.optimiser = optimiser;
    const std::string hash = hash_of(train_locally(*tiny_model(), kTexts, training, "").tensors);
    set_threads(0);
    return hash;
  };
  for (const Optimiser optimiser : {Optimiser::sgd, Optimiser::adam}) {
    EXPECT_EQ(trained(1, 1, optimiser), trained(1, 3, optimiser));
    EXPECT_NE(trained(1, 1, optimiser), trained(2, 1, optimiser));
  }
}

TEST(PoissonSampling, RefusesAStream) {
  const ClientTexts stream{.texts = {Sentence(50, 5)}, .sequence = 5};
  EXPECT_THROW(train_locally(*tiny_model(), stream, poisson(2, 1), ""), UserError);
}

}  // namespace
}  // namespace undertext
