// Logits, loss and every gradient beside those of Hugging Face's own code.
#include <gtest/gtest.h>

#include "models/config_fields.h"
#include "models/transformer/transformer.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(UNDERTEXT_SHARED) / "golden";

class Golden : public testing::TestWithParam<TransformerKind> {
 protected:
  void SetUp() override {
    folder_ = kGolden / (GetParam() == TransformerKind::gpt2 ? "gpt2-tiny" : "bert-tiny");
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no golden data: " << folder_;
    expected_ = read_safetensors(folder_ / "expected.safetensors").tensors;
    const ConfigFields fields(folder_ / "config.json");
    model_ = Transformer::load(folder_, read_transformer_config(fields, GetParam()));
    const at::Tensor ids = expected_.at("input_ids");
    for (std::int64_t b = 0; b < ids.size(0); ++b) {
      Sentence input, target;
      for (std::int64_t t = 0; t < ids.size(1); ++t) {
        input.push_back(static_cast<Token>(ids[b][t].item<std::int64_t>()));
        const std::int64_t label =
            expected_.contains("labels") ? expected_.at("labels")[b][t].item<std::int64_t>() : 0;
        target.push_back(label == -100 ? kNoTarget : static_cast<Token>(label));
      }
      if (expected_.contains("labels"))
        examples_.push_back({input, target});
      else
        examples_.push_back(next_word_example(input));
    }
    for (const Example& example : examples_)
      for (const Token target : example.target) predicted_ += target != kNoTarget;
  }

  std::filesystem::path folder_;
  NamedTensors expected_;
  std::unique_ptr<Transformer> model_;
  std::vector<Example> examples_;
  int predicted_ = 0;
};

double relative_error(const at::Tensor& ours, const at::Tensor& theirs) {
  const double size = theirs.to(at::kDouble).norm().item<double>();
  return (ours.to(at::kDouble) - theirs.to(at::kDouble)).norm().item<double>() / (size > 0 ? size : 1);
}

TEST_P(Golden, Logits) {
  const at::Tensor theirs = expected_.at("logits").flatten(0, 1);
  EXPECT_LT(relative_error(model_->logits(examples_), theirs), 1e-5);
}

TEST_P(Golden, LossAndEveryGradient) {
  NamedTensors gradient;
  for (const auto& [name, tensor] : model_->parameters()) gradient[name] = at::zeros_like(tensor);
  const double loss = model_->add_gradient(examples_, 1.0 / predicted_, gradient) / predicted_;
  EXPECT_NEAR(loss, expected_.at("loss").item<double>(), 1e-5 * loss);
  int compared = 0;
  for (const auto& [name, theirs] : expected_) {
    if (!name.starts_with("grad.")) continue;
    // Adding the same number to all keys of a head changes no softmax: that bias's gradient is zero, and both
    // hold the rounding of it.
    const bool zero = name.ends_with("key.bias");
    if (zero)
      EXPECT_LT(gradient.at(name.substr(5)).abs().max().item<double>(), 1e-6) << name;
    else
      EXPECT_LT(relative_error(gradient.at(name.substr(5)), theirs), 1e-5) << name;
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(gradient.size()));
}

INSTANTIATE_TEST_SUITE_P(HuggingFace, Golden, testing::Values(TransformerKind::gpt2, TransformerKind::bert),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

}  // namespace
}  // namespace undertext
