#include "federated/update_kind.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "federated/clients.h"
#include "federated/local_training.h"
#include "federated/observation.h"
#include "models/transformer/small_transformers.h"
#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"
#include "tensors/write_tensors.h"

namespace undertext {
namespace {

std::shared_ptr<LanguageModel> small_gpt2() {
  return Transformer::random(
      small_config(TransformerKind::gpt2, {.vocabulary = 60, .width = 16, .heads = 2, .deviation = 0.02}),
      Seed(1));
}

const std::vector<Sentence> kWords = {{5, 6, 7, 8}, {5, 8, 21, 3, 9}, {9, 2}};

LocalTraining training_of(UpdateKind kind) {
  return {.learning_rate = 0.05, .reduction = Reduction::mean, .train_embedding = true, .kind = kind};
}

TEST(UpdateKind, IsInferred) {
  for (const std::shared_ptr<LanguageModel>& model :
       {std::static_pointer_cast<LanguageModel>(tiny_model()), small_gpt2()})
    for (const UpdateKind kind : {UpdateKind::weights, UpdateKind::delta, UpdateKind::gradient}) {
      const Update update = train_locally(*model, kWords, training_of(kind), "");
      EXPECT_EQ(name_of(infer_kind(*model, update.tensors)), std::string(name_of(kind))) << model->kind();
    }
}

TEST(UpdateKind, AllThreeGiveTheSameObservation) {
  const auto model = small_gpt2();
  NamedTensors first;
  for (const UpdateKind kind : {UpdateKind::weights, UpdateKind::delta, UpdateKind::gradient}) {
    const Observation seen = observe(model, "", train_locally(*model, kWords, training_of(kind), ""));
    for (const std::string& name : model->parameter_order()) {
      const at::Tensor gradient = summed_gradient(seen, name);
      const auto [place, fresh] = first.try_emplace(name, gradient);
      EXPECT_LT((gradient - place->second).norm().item<double>(),
                1e-3 * place->second.norm().item<double>() + 1e-4)
          << name << " " << name_of(kind);
      EXPECT_LT((seen.after->parameters().at(name) - model->parameters().at(name) + 0.05 * place->second)
                    .abs()
                    .max()
                    .item<double>(),
                1e-5);
    }
  }
}

class ForeignUpdate : public testing::Test {
 protected:
  // The gradient as other frameworks would leave it: no word about how it came about.
  std::filesystem::path write(const std::string& name, const NamedTensors& tensors) {
    write_safetensors(folder_ / name, tensors);
    return folder_ / name;
  }
  TemporaryFolder folder_;
  std::shared_ptr<LanguageModel> model_ = small_gpt2();
  NamedTensors gradient_ = train_locally(*model_, kWords, training_of(UpdateKind::gradient), "").tensors;
};

TEST_F(ForeignUpdate, IsReadUnderTheModelsNames) {
  NamedTensors wrapped;
  for (const auto& [name, tensor] : gradient_) wrapped["module." + name] = tensor;
  const Update update = read_update(write("wrapped.safetensors", wrapped), *model_);
  EXPECT_EQ(update.protocol.kind, UpdateKind::gradient);
  EXPECT_TRUE(update.protocol.kind_inferred);
  EXPECT_EQ(hash_of(update.tensors), hash_of(gradient_));
  const Update told = read_update(folder_ / "wrapped.safetensors", *model_,
                                  {.kind = UpdateKind::delta, .learning_rate = 0.5, .count = 3});
  EXPECT_EQ(told.protocol.kind, UpdateKind::delta);
  EXPECT_FALSE(told.protocol.kind_inferred);
  EXPECT_EQ(told.protocol.learning_rate, 0.5);
  EXPECT_EQ(told.protocol.count, 3);
}

TEST_F(ForeignUpdate, MayHoldOnlySomeTensors) {
  const std::string name = *model_->parameter_of(Role::token_embedding);
  const Update update = read_update(write("some.safetensors", {{name, gradient_.at(name)}}), *model_);
  EXPECT_EQ(update.tensors.size(), 1);
}

TEST_F(ForeignUpdate, OfAnotherModelIsRefused) {
  EXPECT_THROW(read_update(write("other.safetensors", {{"lstm.weight", at::zeros({3, 3})}}), *model_),
               UserError);
  EXPECT_THROW(read_update(write("nan.safetensors",
                                 {{*model_->parameter_of(Role::token_embedding), at::full({60, 16}, NAN)}}),
                           *model_),
               UserError);
}

TEST_F(ForeignUpdate, OurOwnSpeaksForItself) {
  const Update update =
      train_locally(*model_, kWords, training_of(UpdateKind::gradient), std::string(64, 'a'));
  save_update(update, folder_ / "own.safetensors");
  EXPECT_EQ(read_update(folder_ / "own.safetensors", *model_).protocol.learning_rate, 0.05);
  EXPECT_THROW(read_update(folder_ / "own.safetensors", *model_, {.kind = UpdateKind::weights}), UserError);
}

// Flower keeps a list of arrays: names are lost, the order stays.
TEST(FlowerUpdate, OfTheGoldenModelIsItsSgdStep) {
  const std::filesystem::path golden = std::filesystem::path(UNDERTEXT_SHARED) / "golden/gpt2-tiny";
  if (!std::filesystem::exists(golden)) GTEST_SKIP() << "no golden data: " << golden;
  const ConfigFields fields(golden / "config.json");
  const auto model = Transformer::load(golden, read_transformer_config(fields, TransformerKind::gpt2));
  const Update flower = read_update(golden / "flower_after.npz", *model);
  const Update named = read_update(golden / "updated.safetensors", *model);
  EXPECT_EQ(flower.protocol.kind, UpdateKind::weights);
  EXPECT_EQ(hash_of(flower.tensors), hash_of(named.tensors));
  EXPECT_THROW(read_update(golden / "flower_before.npz", *model), UserError) << "nothing was trained";
  const NamedTensors expected = read_tensors(golden / "expected.safetensors").tensors;
  for (const auto& [name, after] : flower.tensors) {
    const at::Tensor step = (model->parameters().at(name) - after) / 0.1;
    const at::Tensor wanted = expected.at("grad." + name);
    EXPECT_LT((step - wanted).abs().max().item<double>(), 1e-5) << name;
  }
}

}  // namespace
}  // namespace undertext
