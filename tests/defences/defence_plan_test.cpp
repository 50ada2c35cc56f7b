#include "defences/defence_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "federated/clients.h"
#include "federated/observation.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

DefencePlan plan(const std::vector<std::string>& texts) {
  return DefencePlan::parse(texts);
}

Update sent(const DefencePlan& plan, LocalTraining training) {
  plan.apply(training);
  return train_locally(*tiny_model(), kTexts, training, std::string(64, 'a'), plan.client(Seed(1)));
}

TEST(DefencePlan, RefusesOneKindTwiceAndTwoNoisesOfOneSum) {
  EXPECT_THROW(plan({"clipping:clip=1", "clipping:clip=2"}), UserError);
  EXPECT_THROW(plan({"dp-fedavg:clip=1", "dp-ftrl:clip=1"}), UserError);
  EXPECT_THROW(plan({"dpsgd:sigma=1"}), UserError);  // without a norm there is no guarantee
  EXPECT_TRUE(plan({}).none());
  EXPECT_EQ(plan({"clipping:clip=1", "noise-on-result:sigma=0.1"}).text(),
            "clipping:clip=1 noise-on-result:sigma=0.1");
}

// What both sides know reaches the adversary with the update, in the units of one step's gradient.
TEST(DefencePlan, TellsTheAdversaryWhatTheProtocolSays) {
  const LocalTraining training{.epochs = 2, .batch = 2, .learning_rate = 0.5};  // 5 texts: 3 steps an epoch
  const Update update = sent(plan({"clipping:clip=3", "noise-per-step:sigma=2,noise=laplace",
                                   "noise-on-result:sigma=0.25", "pruning:share=0.5"}),
                             training);
  const KnownDefence& known = update.protocol.defence;
  EXPECT_EQ(known.clip, 3);
  EXPECT_EQ(known.text_clip, 0);
  EXPECT_EQ(known.pruned, 0.5);
  EXPECT_NEAR(known.noise_per_step, 2 * std::sqrt(2.0), 1e-6);
  EXPECT_EQ(known.noise_on_result, 0.25);
  const Observation seen = observe(tiny_model(), std::string(64, 'a'), update);
  EXPECT_EQ(local_steps(update.protocol), 6);
  EXPECT_NEAR(known_noise(seen), std::sqrt(6 * 8.0 + 0.25), 1e-5);
  EXPECT_FALSE(sent(plan({}), training).protocol.defence.any());
}

// DP-SGD noises a sum that the mean divides by the texts of a step.
TEST(DefencePlan, TellsTheNoiseOfAMean) {
  const Update mean =
      sent(plan({"dpsgd:clip=2,sigma=3"}), {.reduction = Reduction::mean, .kind = UpdateKind::gradient});
  EXPECT_EQ(mean.protocol.defence.text_clip, 2);
  EXPECT_NEAR(mean.protocol.defence.noise_per_step, 6.0 / 5, 1e-6);
}

TEST(DefencePlan, FreezesTheEmbedding) {
  const Update all = sent(plan({}), {.train_embedding = true}),
               frozen = sent(plan({"frozen-embedding"}), {.train_embedding = true});
  const std::string embedding = *tiny_model()->parameter_of(Role::token_embedding);
  EXPECT_TRUE(all.tensors.contains(embedding));
  EXPECT_FALSE(frozen.tensors.contains(embedding));
}

TEST(DefencePlan, DrawsTextsWhereItIsToldTo) {
  LocalTraining training;
  plan({"dpsgd:clip=1"}).apply(training);
  EXPECT_EQ(training.sampling, Sampling::in_order);
  plan({"dpsgd:clip=1,sampling=poisson"}).apply(training);
  EXPECT_EQ(training.sampling, Sampling::poisson);
}

TEST(DefencePlan, SaysWhyItCannot) {
  const auto model = tiny_model();
  const auto why = [&](const std::string& text, DefenceSetting setting) {
    return plan({text}).obstacle(setting, *model, nullptr).value_or("");
  };
  EXPECT_EQ(why("noise-per-step:sigma=1", DefenceSetting::update), "");
  EXPECT_EQ(why("dp-fedavg:clip=1", DefenceSetting::federation), "");
  for (const char* server : {"dp-fedavg:clip=1", "dp-ftrl:clip=1"})
    EXPECT_NE(why(server, DefenceSetting::update).find("not from the server"), std::string::npos);
  EXPECT_NE(why("secure-aggregation", DefenceSetting::update).find("expected several clients"),
            std::string::npos);
  EXPECT_EQ(why("secure-aggregation", DefenceSetting::users), "");
  EXPECT_NE(why("noise-on-result", DefenceSetting::training), "");
  EXPECT_NE(why("characters", DefenceSetting::update), "");
  EXPECT_NE(why("lstm-dropout", DefenceSetting::update).find("expected a char-lstm"), std::string::npos);
  EXPECT_THROW(plan({"lstm-dropout"}).check(DefenceSetting::update, *model, nullptr), UserError);
}

TEST(DefencePlan, PromisesWhatTheAccountantSays) {
  const auto promised = plan({"dpsgd:clip=1,sigma=1.3,sampling=poisson"})
                            .guarantee({.texts = 60'000, .batch = 150, .steps = 6'000, .delta = 1e-5});
  ASSERT_TRUE(promised.has_value());
  EXPECT_LT(promised->claim.epsilon, 0.724);  // Renyi's bound, which PRV's is below
  EXPECT_GT(promised->claim.epsilon, 0.6);
  EXPECT_EQ(promised->claim.unit, "example");
  EXPECT_EQ(promised->statement.find("taken in order"), std::string::npos);
  const auto in_order =
      plan({"dpsgd:clip=1,sigma=1.3"}).guarantee({.texts = 60'000, .batch = 150, .steps = 6'000});
  EXPECT_NE(in_order->statement.find("taken in order"), std::string::npos);
  EXPECT_FALSE(plan({"noise-per-step:sigma=9"}).guarantee({.texts = 10, .steps = 1}).has_value());
  // What is promised is done.
  LocalTraining training;
  plan({"dpsgd:clip=1,sigma=1.3"}).apply(training);
  EXPECT_EQ(training.sampling, Sampling::in_order);
  plan({"dpsgd:clip=1,sigma=1.3,sampling=poisson"}).apply(training);
  EXPECT_EQ(training.sampling, Sampling::poisson);
}

// Whose guarantee needs clients drawn on their own, or none drawn at all, refuses the rest by name.
TEST(DefencePlan, AveragesOnTheServerWhereItsPromiseHolds) {
  const FederationRun drawn{{.rule = SelectionRule::poisson, .per_round = 10}, 100, 50},
      uniform{{.rule = SelectionRule::uniform, .per_round = 10}, 100, 50},
      in_turn{{.rule = SelectionRule::in_turn, .per_round = 10}, 100, 50};
  const DefencePlan fed_avg = plan({"dp-fedavg:clip=1,sigma=1"}), ftrl = plan({"dp-ftrl:clip=1,sigma=4"});
  EXPECT_TRUE(fed_avg.averaging(drawn, Seed(1)));
  EXPECT_THROW(fed_avg.averaging(uniform, Seed(1)), UserError);
  EXPECT_TRUE(ftrl.averaging(in_turn, Seed(1)));
  EXPECT_THROW(ftrl.averaging(drawn, Seed(1)), UserError);
  EXPECT_FALSE(plan({"pruning"}).averaging(uniform, Seed(1)));
  const auto of_fed_avg = fed_avg.guarantee(drawn), of_ftrl = ftrl.guarantee(in_turn);
  ASSERT_TRUE(of_fed_avg && of_ftrl);
  EXPECT_EQ(of_fed_avg->claim.unit, "user");
  EXPECT_GT(of_fed_avg->claim.epsilon, 0.5);
  // Five trees of ten leaves: each user is in 20 nodes, none of which is sampled.
  EXPECT_NEAR(of_ftrl->claim.epsilon, epsilon_of(Composition{{4, 1, 20}}, 1e-5), 1e-9);
  EXPECT_NE(of_ftrl->statement.find("5 trees of 10 leaves"), std::string::npos) << of_ftrl->statement;
  EXPECT_FALSE(plan({"pruning"}).guarantee(uniform).has_value());
  EXPECT_THROW(plan({"secure-aggregation", "dp-fedavg:clip=1"}), UserError);
}

}  // namespace
}  // namespace undertext
