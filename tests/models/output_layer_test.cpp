#include "models/output_layer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace undertext {
namespace {

// Several blocks of words, the last of them not full, and of contexts.
TEST(LogNormalisers, AreLogSumExpOfAllLogits) {
  constexpr std::int64_t kRows = 700, kWords = 7001, kWidth = 6;
  const at::Tensor h = at::zeros({kRows, kWidth}), weight = at::zeros({kWords, kWidth});
  const at::Tensor bias = at::zeros({kWords});
  add_normal_noise(Seed(1), 3, h.data_ptr<float>(), h.numel());
  add_normal_noise(Seed(2), 2, weight.data_ptr<float>(), weight.numel());
  add_normal_noise(Seed(3), 1, bias.data_ptr<float>(), bias.numel());
  for (const bool with_bias : {false, true}) {
    const OutputWeights output{kWords, kWidth, weight.data_ptr<float>(),
                               with_bias ? bias.data_ptr<float>() : nullptr};
    OutputWorkspace workspace;
    std::vector<double> found(kRows);
    log_normalisers(output, h.data_ptr<float>(), kRows, found.data(), workspace);
    at::Tensor logits = h.to(at::kDouble).matmul(weight.t().to(at::kDouble));
    if (with_bias) logits += bias;
    const at::Tensor want = logits.logsumexp(1);
    for (std::int64_t i = 0; i < kRows; ++i)
      ASSERT_NEAR(found[static_cast<std::size_t>(i)], want[i].item<double>(), 1e-4) << i;
  }
}

}  // namespace
}  // namespace undertext
