#include "audit/canary_audit.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/threads.h"
#include "defences/accounting/accountant.h"
#include "defences/dpsgd.h"
#include "models/cifg_lstm.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

// A tiny keyboard of twelve words and the texts of one client.
class CanaryAudits : public ::testing::Test {
 protected:
  static CanaryAuditOptions options(double sigma) {
    CanaryAuditOptions options;
    options.training = {.epochs = 1,
                        .batch = 0,
                        .learning_rate = 0.5,
                        .reduction = Reduction::mean,
                        .train_embedding = true,
                        .sampling = Sampling::poisson};
    options.defences = [sigma](Seed seed) {
      return std::vector<std::shared_ptr<const ClientDefence>>{std::make_shared<DpSgd>(.5, sigma, seed)};
    };
    options.trials = 600;
    options.references = 15;
    options.seed = Seed(7);
    return options;
  }
  double claimed(double sigma, const CanaryAuditOptions& options) const {
    const NoisySteps steps =
        dpsgd_steps(sigma, std::ssize(texts_) + 1, options.training.batch, options.training.epochs);
    return epsilon_of({&steps, 1}, options.delta);
  }
  CanaryAudit audited(const CanaryAuditOptions& options) const {
    return audit_canary(*model_, words_, texts_, canary_, options);
  }

  const Vocabulary words_{
      std::vector<std::string>{"</S>", "<S>", "<UNK>", "a", "b", "c", "d", "e", "f", "g", "h", "i"}};
  const std::unique_ptr<CifgLstm> model_ =
      CifgLstm::random({.vocabulary = 12, .embedding = 4, .units = 5}, Seed(3));
  const std::vector<Sentence> texts_ = {{3, 4}, {5, 6, 3}, {4, 4}};
  const Sentence canary_ = {7, 8, 9};
};

TEST_F(CanaryAudits, StayBelowWhatTheAccountantProves) {
  for (const double sigma : {.6, 1.5}) {
    const CanaryAuditOptions honest = options(sigma);
    const CanaryAudit audit = audited(honest);
    EXPECT_LE(audit.lower_bound, claimed(sigma, honest)) << sigma;
    EXPECT_GE(audit.by_gradient.lower_bound, audit.by_loss.lower_bound) << "the stronger look";
  }
  // Several steps that draw their texts.
  CanaryAuditOptions several = options(.6);
  several.training.batch = 1;
  several.training.epochs = 2;
  EXPECT_LE(audited(several).lower_bound, claimed(.6, several));
  EXPECT_GT(audited(options(.6)).lower_bound, .3) << "an audit that sees nothing proves nothing";
}

TEST_F(CanaryAudits, CatchATenthOfTheNoiseThatIsClaimed) {
  const CanaryAuditOptions broken = options(.2);
  const CanaryAudit audit = audited(broken);
  EXPECT_GT(audit.lower_bound, claimed(2, broken));
  EXPECT_LE(audit.lower_bound, claimed(.2, broken));
}

TEST_F(CanaryAudits, SeeHowWellACanaryIsRemembered) {
  CanaryAuditOptions open = options(0);
  open.defences = {};
  open.training.epochs = 400;
  open.training.learning_rate = 2;
  open.trials = 4;
  const CanaryAudit audit = audited(open);
  EXPECT_GT(audit.exposure_with, 3);
  EXPECT_LT(audit.exposure_without, 2.5);
}

TEST_F(CanaryAudits, HangOnTheSeedAlone) {
  CanaryAuditOptions one = options(1);
  one.trials = 20;
  std::vector<CanaryAudit> runs;
  for (const int count : {1, 3}) {
    set_threads(count);
    runs.push_back(audited(one));
  }
  set_threads(0);
  EXPECT_EQ(runs[0].by_gradient.threshold, runs[1].by_gradient.threshold);
  EXPECT_EQ(runs[0].by_loss.threshold, runs[1].by_loss.threshold);
  EXPECT_EQ(runs[0].exposure_with, runs[1].exposure_with);
}

TEST_F(CanaryAudits, RefuseWhatMakesNoSense) {
  CanaryAuditOptions wrong = options(1);
  wrong.trials = 3;
  EXPECT_THROW(audited(wrong), UserError);
  wrong = options(1);
  wrong.confidence = 1;
  EXPECT_THROW(audited(wrong), UserError);
  wrong = options(1);
  EXPECT_THROW(audit_canary(*model_, words_, texts_, {}, wrong), UserError);
  EXPECT_THROW(random_canary(words_, 0, Seed(1)), UserError);
  for (const Token token : random_canary(words_, 50, Seed(1))) EXPECT_GE(token, 3) << "special tokens";
}

}  // namespace
}  // namespace undertext
