#include "defences/accounting/measured_privacy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "defences/accounting/accountant.h"
#include "defences/dpsgd.h"
#include "federated/step_gradient.h"
#include "models/cifg_lstm.h"

namespace undertext {
namespace {

TEST(MeasuredPrivacy, BoundsSharesExactly) {
  // All of n: the lower bound solves p^n = tail, the upper one is 1.
  const ShareBounds all = clopper_pearson(500, 500, .99);
  EXPECT_NEAR(all.low, std::pow(.005, 1 / 500.), 1e-12);
  EXPECT_EQ(all.high, 1);
  // Five of ten at 95%, from tables.
  const ShareBounds half = clopper_pearson(5, 10, .95);
  EXPECT_NEAR(half.low, .1871, 5e-5);
  EXPECT_NEAR(half.high, .8129, 5e-5);
}

TEST(MeasuredPrivacy, TurnsGuessesIntoABound) {
  EXPECT_NEAR(epsilon_lower_bound({500, 500, 0, 500}, 0, .99), 4.54, .005);
  EXPECT_EQ(epsilon_lower_bound({250, 500, 250, 500}, 0, .99), 0);
  // The guess "it was not there" counts as well: hardly ever wrong where it was, mostly right where it was
  // not.
  EXPECT_GT(epsilon_lower_bound({500, 500, 400, 500}, 0, .99), 2);
}

TEST(MeasuredPrivacy, RanksACanaryAmongReferences) {
  std::vector<double> references(16);
  std::iota(references.begin(), references.end(), 1);
  EXPECT_EQ(rank_among(3.5, references), 4);
  EXPECT_DOUBLE_EQ(exposure_of(rank_among(3.5, references), 16), 2);
  EXPECT_DOUBLE_EQ(exposure_of(rank_among(0, references), 16), 4);
  EXPECT_EQ(exposure_of(rank_among(99, references), 16), 0);
}

// One step of DP-SGD on a tiny keyboard. The adversary knows everything but whether the canary was there, and
// projects the noisy sum on the canary's own gradient, cut to the norm: the best there is.
class DpSgdAudit {
 public:
  explicit DpSgdAudit(double sigma) : sigma_(sigma) {
    model_ = CifgLstm::random({.vocabulary = 12, .embedding = 4, .units = 5}, Seed(3));
    names_ = model_->trainable(true);
    canary_ = gradient({{7, 8, 9}}, 0, Seed(1));
    double squared = 0;
    for (const auto& [name, tensor] : canary_)
      squared += tensor.to(at::kDouble).square().sum().item<double>();
    norm_ = std::sqrt(squared);
  }

  double statistic(bool with_canary, Seed seed) const {
    std::vector<Sentence> batch = {{3, 4}, {5, 6, 3}};
    if (with_canary) batch.push_back({7, 8, 9});
    const NamedTensors noisy = gradient(batch, sigma_, seed);
    double product = 0;
    for (const auto& [name, tensor] : noisy)
      product += (tensor.to(at::kDouble) * canary_.at(name).to(at::kDouble)).sum().item<double>();
    return product / norm_;
  }

 private:
  NamedTensors gradient(const std::vector<Sentence>& batch, double sigma, Seed seed) const {
    NamedTensors sum;
    for (const std::string& name : names_) sum[name] = at::zeros_like(model_->parameters().at(name));
    const std::vector<std::shared_ptr<const ClientDefence>> defences = {
        std::make_shared<DpSgd>(.1, sigma, seed)};
    step_gradient(*model_, batch, Reduction::sum, defences, 0, sum);
    return sum;
  }

  double sigma_, norm_ = 0;
  std::unique_ptr<CifgLstm> model_;
  std::vector<std::string> names_;
  NamedTensors canary_;
};

TEST(MeasuredPrivacy, StaysBelowWhatTheAccountantProves) {
  constexpr double kDelta = 1e-5;
  for (const double sigma : {.5, 1., 3.}) {
    const DpSgdAudit mechanism(sigma);
    const PrivacyAudit audit = audit_privacy(
        [&](bool with, Seed seed) { return mechanism.statistic(with, seed); }, 1000, kDelta, .99, Seed(9));
    const NoisySteps step{sigma, 1, 1};
    EXPECT_LE(audit.lower_bound, epsilon_of({&step, 1}, kDelta)) << sigma;
  }
}

TEST(MeasuredPrivacy, CatchesATenthOfTheNoiseThatIsClaimed) {
  constexpr double kDelta = 1e-5, kClaimed = 2;
  const DpSgdAudit broken(kClaimed / 10);
  const PrivacyAudit audit = audit_privacy([&](bool with, Seed seed) { return broken.statistic(with, seed); },
                                           1000, kDelta, .99, Seed(9));
  const NoisySteps step{kClaimed, 1, 1};
  EXPECT_GT(audit.lower_bound, epsilon_of({&step, 1}, kDelta));
}

}  // namespace
}  // namespace undertext
