#include "federated/observation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "federated/clients.h"
#include "federated/local_training.h"

namespace undertext {
namespace {

const std::string kHash(64, 'a');

std::string observe_error(const std::string& hash, Update update) {
  try {
    observe(tiny_model(), hash, std::move(update));
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Observation, HoldsTheModelBeforeAndAfter) {
  const auto base = tiny_model();
  const Update update = train_locally(*base, kTexts, {.epochs = 2, .batch = 2, .learning_rate = 0.1}, kHash);
  const Observation seen = observe(base, kHash, update);
  EXPECT_EQ(seen.before, base);
  for (const auto& [name, weight] : seen.after->parameters())
    EXPECT_TRUE(torch::equal(
        weight, update.tensors.count(name) ? update.tensors.at(name) : base->parameters().at(name)))
        << name;
  const at::Tensor moved = summed_gradient(seen, "decoder.bias");
  EXPECT_EQ(moved.scalar_type(), torch::kDouble);
  EXPECT_TRUE(torch::allclose(
      moved * 0.1,
      (base->parameters().at("decoder.bias") - update.tensors.at("decoder.bias")).to(torch::kDouble), 1e-4,
      1e-7));
  EXPECT_EQ(summed_gradient(seen, "embedding.weight").abs().max().item<double>(), 0);
}

TEST(Observation, OfAGradientAgreesWithThatOfTheWeightsAfterOneStep) {
  const auto base = tiny_model();
  LocalTraining training{.learning_rate = 0.01};
  const Observation weights = observe(base, kHash, train_locally(*base, kTexts, training, kHash));
  training.kind = UpdateKind::gradient;
  const Observation gradient = observe(base, kHash, train_locally(*base, kTexts, training, kHash));
  for (const std::string& name : base->trainable(false)) {
    EXPECT_TRUE(torch::allclose(weights.after->parameters().at(name), gradient.after->parameters().at(name),
                                1e-5, 1e-6));
    EXPECT_TRUE(torch::allclose(summed_gradient(weights, name), summed_gradient(gradient, name), 1e-3, 1e-4));
  }
}

TEST(Observation, StartsFromTheZeroBiasThatTheProtocolNames) {
  const auto base = tiny_model();
  const std::string before = hash_of(base->parameters());
  const Update update = train_locally(*base, kTexts, {.learning_rate = 0.1, .zero_output_bias = true}, kHash);
  const Observation seen = observe(base, kHash, update);
  EXPECT_EQ(seen.before->parameters().at("decoder.bias").abs().max().item<double>(), 0);
  EXPECT_TRUE(torch::allclose(summed_gradient(seen, "decoder.bias") * -0.1,
                              update.tensors.at("decoder.bias").to(torch::kDouble)));
  EXPECT_EQ(hash_of(base->parameters()), before);
}

TEST(Observation, RefusesAnUpdateOfAnotherModel) {
  const Update good = train_locally(*tiny_model(), kTexts, {}, kHash);
  EXPECT_NE(
      observe_error(std::string(64, 'c'), good).find("of another model: it starts from aaaaaaaaaaaa, this"),
      std::string::npos);
  Update other = good;
  other.tensors["transformer.weight"] = torch::zeros({2});
  EXPECT_NE(observe_error(kHash, other).find("holds transformer.weight"), std::string::npos);
  other = good;
  other.tensors["decoder.bias"] = torch::zeros({29});
  EXPECT_NE(observe_error(kHash, other).find("decoder.bias has shape (29), expected (30)"),
            std::string::npos);
}

}  // namespace
}  // namespace undertext
