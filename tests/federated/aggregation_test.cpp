#include "federated/aggregation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "federated/clients.h"
#include "models/transformer/transformer.h"

namespace undertext {
namespace {

const std::string kHash(64, 'a');
const LocalTraining kGradient{.reduction = Reduction::mean, .kind = UpdateKind::gradient};

// Adds a number to everything that leaves the device.
class Mark : public ClientDefence {
 public:
  explicit Mark(double value) : value_(value) {}
  void on_result(NamedTensors& result) const override {
    for (auto& [name, tensor] : result) tensor.add_(value_);
  }

 private:
  double value_;
};

TEST(Aggregation, OfEquallyLongTextsIsTheGradientOfAllTogether) {
  const std::vector<Sentence> all = {{5, 6, 7}, {5, 8, 1}, {9, 2, 2}, {3, 4, 5}};
  const std::vector<User> users = {{{all[0], all[1]}}, {{all[2], all[3]}}};
  const Update together = train_locally(*tiny_model(), all, kGradient, kHash);
  const Update average = average_gradient(*tiny_model(), users, kGradient, kHash);
  EXPECT_EQ(average.protocol.count, 4);
  EXPECT_EQ(average.protocol.base_hash, kHash);
  for (const auto& [name, tensor] : together.tensors)
    EXPECT_TRUE(torch::allclose(average.tensors.at(name), tensor, 1e-4, 1e-7)) << name;
}

TEST(Aggregation, IsTheMeanOverUsersNotOverTheirTexts) {
  const std::vector<User> users = {{{{5, 6, 7}}}, {{{9}, {2}, {3, 4, 5}}}};
  const Update first = train_locally(*tiny_model(), users[0].texts, kGradient, kHash);
  const Update second = train_locally(*tiny_model(), users[1].texts, kGradient, kHash);
  const Update average = average_gradient(*tiny_model(), users, kGradient, kHash);
  for (const auto& [name, tensor] : average.tensors)
    EXPECT_TRUE(torch::allclose(tensor, (first.tensors.at(name) + second.tensors.at(name)) / 2, 1e-4, 1e-7));
}

TEST(Aggregation, LeavesEachUserItsOwnDefences) {
  const std::vector<User> plain = {{{{5, 6}}}, {{{9, 3}}}};
  std::vector<User> marked = plain;
  marked[0].defences = {std::make_shared<Mark>(1)};
  marked[1].defences = {std::make_shared<Mark>(3)};
  const Update without = average_gradient(*tiny_model(), plain, kGradient, kHash);
  const Update with = average_gradient(*tiny_model(), marked, kGradient, kHash);
  for (const auto& [name, tensor] : with.tensors)
    EXPECT_TRUE(torch::allclose(tensor, without.tensors.at(name) + 2, 1e-5, 1e-6));
}

// Two users with the same text do not drop the same units.
TEST(Aggregation, DrawsDropoutForEachUserAnew) {
  TransformerConfig config;
  config.vocabulary = 30;
  config.width = config.inner = 16;
  config.heads = 2;
  config.layers = 1;
  config.residual_dropout = 0.5;
  const std::unique_ptr<Transformer> model = Transformer::random(config, Seed(1));
  const std::vector<Sentence> texts = {{5, 6, 7, 8}};
  LocalTraining training = kGradient;
  const Update alone = average_gradient(*model, std::vector<User>{{texts}}, training, kHash);
  const Update same = train_locally(*model, texts, training, kHash);
  const Update twice = average_gradient(*model, std::vector<User>{{texts}, {texts}}, training, kHash);
  training.seed = user_seed(training.seed, 0, 2);
  const Update first = train_locally(*model, texts, training, kHash);
  const std::string name = "transformer_encoder.layers.0.linear2.weight";
  EXPECT_TRUE(torch::equal(alone.tensors.at(name), same.tensors.at(name)));
  EXPECT_FALSE(torch::allclose(twice.tensors.at(name), first.tensors.at(name), 1e-3, 1e-6));
}

TEST(Aggregation, IsOfGradientsAlone) {
  EXPECT_THROW(average_gradient(*tiny_model(), std::vector<User>{{{{5}}}, {{{6}}}}, {}, kHash), UserError);
  EXPECT_THROW(average_gradient(*tiny_model(), {}, kGradient, kHash), UserError);
}

}  // namespace
}  // namespace undertext
