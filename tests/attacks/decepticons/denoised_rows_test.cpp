#include "attacks/decepticons/denoised_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "attacks/decepticons/correlation.h"
#include "attacks/decepticons/readout.h"
#include "corrupted_states.h"

namespace undertext {
namespace {

constexpr std::int64_t kRows = 200, kWidth = 30;

// One layer whose rows are sums of inputs, each up to the bin it fell into.
struct MadeLayer {
  std::vector<LayerGradient> gradients;
  Matrix<float> inputs{3, kWidth};
  explicit MadeLayer(float noise) {
    add_normal_noise(Seed(1), 1, inputs.data.data(), 3 * kWidth);
    for (std::int64_t i = 0; i < 3; ++i) {
      standardise(inputs.row(i), kWidth);
      for (std::int64_t k = 0; k < kWidth; ++k) inputs(i, k) *= std::sqrt(static_cast<float>(kWidth));
    }
    at::Tensor weight = at::zeros({kRows, kWidth}), bias = at::zeros({kRows});
    const std::int64_t bins[] = {40, 90, 160};
    const float weights[] = {1, -2, 1.5f};
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j <= bins[i]; ++j) {
        bias[j] += weights[i];
        for (std::int64_t k = 0; k < kWidth; ++k) weight[j][k] += weights[i] * inputs(i, k);
      }
    add_normal_noise(Seed(2), noise, weight.data_ptr<float>(), weight.numel());
    add_normal_noise(Seed(3), noise, bias.data_ptr<float>(), bias.numel());
    gradients = {{weight, bias}};
  }
};

TEST(Denoising, KnowsWhetherThereIsNoise) {
  EXPECT_EQ(noise_of(MadeLayer(0).gradients), 0);
  EXPECT_NEAR(noise_of(MadeLayer(0.3f).gradients), 0.3, 0.06);
}

TEST(Denoising, FindsTheJumpsAndNothingElse) {
  const MadeLayer made(0.5f);
  const DifferenceRows found = denoised_differences(made.gradients, 0.5, 20);
  ASSERT_EQ(found.rows.rows, 3) << "of 20 that were allowed";
  const Matrix<float> fit = correlations(standardised(made.inputs.data.data(), 3, kWidth, 0, kWidth),
                                         standardised(found.rows.data.data(), 3, kWidth, 0, kWidth));
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_GT(fit(i, i), 0.98) << "input " << i;
  EXPECT_NEAR(found.weight[1], -2, 0.3);
  EXPECT_EQ(denoised_differences(made.gradients, 0.5, 2).rows.rows, 2) << "the largest first";
  EXPECT_EQ(denoised_differences(MadeLayer(0.5f).gradients, 50, 20).rows.rows, 0) << "all is noise";
}

TEST(Denoising, LeavesTextsReadableUnderALittleNoiseAndNothingCertified) {
  const CorruptedState state = small_state(TransformerKind::plain);
  const std::vector<Sentence> texts = random_texts(1, 10);
  Observation observation = observed(state, texts);
  const double weight = std::abs(divided_differences(layer_gradients(*state.model, observation)).weight[0]);
  for (auto& [name, tensor] : observation.update.tensors) {
    tensor = tensor.clone();
    add_normal_noise(Seed(4).derive(name), static_cast<float>(weight / 100), tensor.data_ptr<float>(),
                     tensor.numel());
  }
  const DecepticonRecovery recovery =
      read_as_in_paper(observation, state.key, {.sequences = 1, .length = 10});
  int right = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    right += recovery.sequences[0].ids[i] == texts[0][i];
    EXPECT_FALSE(recovery.sequences[0].certified[i]);
  }
  EXPECT_GE(right, 5);
  // So much that nothing is left: an answer all the same, of which it is not sure.
  for (auto& [name, tensor] : observation.update.tensors)
    add_normal_noise(Seed(5).derive(name), 10, tensor.data_ptr<float>(), tensor.numel());
  const DecepticonRecovery hidden = read_as_in_paper(observation, state.key, {.sequences = 1, .length = 10});
  for (const double confidence : hidden.sequences[0].confidence) EXPECT_LT(confidence, 0.5);
}

}  // namespace
}  // namespace undertext
