#include "federated/federation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "base/threads.h"
#include "federated/federation_run.h"
#include "federated/small_federation.h"

namespace undertext {
namespace {

SimulatedFederation simulated(const FederationParties& parties, const FederationOptions& options) {
  const auto trainers = thread_trainers(parties, options);
  return simulate_federation(parties, options, thirty_words(), *trainers);
}

std::string complaint(const FederationParties& parties, const FederationOptions& options) {
  try {
    check_federation(parties, options);
    simulated(parties, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing";
}

// One round by hand: each client's step of plain gradient descent on all its texts, in double, then eq. 1.
TEST(Federation, ARoundIsTheWeightedMeanOfItsClients) {
  const FederationParties parties = small_parties();
  FederationOptions options = small_options(1);
  options.selection = {.rule = SelectionRule::scheduled, .schedule = {{1, 3}}};
  options.local = {.batch = 0, .learning_rate = 0.5, .reduction = Reduction::mean};
  const SimulatedFederation run = simulated(parties, options);
  const auto after = run.observation.model(1);
  const std::vector<std::string> names = parties.model->trainable(false);
  NamedTensors expected;
  for (const std::size_t client : {1u, 3u}) {
    NamedTensors gradient;
    for (const std::string& name : names)
      gradient[name] = torch::zeros_like(parties.model->parameters().at(name));
    const std::vector<Sentence>& texts = parties.clients[client].texts;
    parties.model->add_gradient(texts, 1.0 / (5.0 * static_cast<double>(texts.size())), gradient);
    const double share = static_cast<double>(texts.size()) / (6 + 10);
    for (const std::string& name : names) {
      const at::Tensor trained = parties.model->parameters().at(name).to(torch::kDouble) -
                                 0.5 * gradient.at(name).to(torch::kDouble);
      expected[name] = expected.contains(name) ? expected[name] + share * trained : share * trained;
    }
  }
  for (const auto& [name, tensor] : after->parameters()) {
    if (!expected.contains(name)) {
      EXPECT_TRUE(torch::equal(tensor, parties.model->parameters().at(name))) << name << " is not trained";
      continue;
    }
    EXPECT_LT((tensor.to(torch::kDouble) - expected.at(name)).abs().max().item<double>(), 1e-6) << name;
    EXPECT_GT((tensor - parties.model->parameters().at(name)).abs().max().item<double>(), 1e-4) << name;
  }
  EXPECT_EQ(run.observation.took_part.at(0),
            (std::vector<TookPart>{TookPart::no, TookPart::yes, TookPart::no, TookPart::yes}));
}

TEST(Federation, LearnsAndTellsWhoTookPart) {
  const FederationParties parties = small_parties();
  const SimulatedFederation run = simulated(parties, small_options(6));
  const FederationProgress& progress = run.summary.progress;
  ASSERT_EQ(progress.rounds.size(), 6u);
  EXPECT_EQ(run.observation.rounds, 6);
  EXPECT_EQ(run.observation.clients, 4);
  EXPECT_LT(progress.rounds.back().loss, progress.first_loss);
  std::set<std::vector<std::int64_t>> pairs;
  for (std::size_t round = 0; round < 6; ++round) {
    EXPECT_EQ(progress.rounds[round].answered.size(), 2u);
    pairs.insert(progress.rounds[round].answered);
    for (std::int64_t client = 0; client < 4; ++client)
      EXPECT_EQ(run.observation.took_part[round][static_cast<std::size_t>(client)] == TookPart::yes,
                std::ranges::count(progress.rounds[round].answered, client) == 1);
    EXPECT_NE(hash_of(run.observation.model(static_cast<std::int64_t>(round))->parameters()),
              hash_of(run.observation.model(static_cast<std::int64_t>(round) + 1)->parameters()));
  }
  EXPECT_GT(pairs.size(), 1u);
  EXPECT_EQ(run.observation.model(0), parties.model);
}

TEST(Federation, GivesTheSameBytesOnAnyNumberOfThreads) {
  const FederationParties parties = small_parties();
  FederationOptions options = small_options(3);
  options.selection.per_round = 3;
  std::vector<std::string> hashes;
  for (const int count : {1, 2, 3, 8}) {
    set_threads(count);
    hashes.push_back(hash_of(simulated(parties, options).summary.progress.model->parameters()));
  }
  set_threads(0);
  for (const std::string& hash : hashes) EXPECT_EQ(hash, hashes.front());
  options.seed = Seed(8);
  EXPECT_NE(hash_of(simulated(parties, options).summary.progress.model->parameters()), hashes.front());
}

TEST(Federation, ARoundWithoutAnAnswerKeepsTheModel) {
  const FederationParties parties = small_parties();
  FederationOptions options = small_options(3);
  options.selection.drop_out = 1;
  const SimulatedFederation run = simulated(parties, options);
  EXPECT_EQ(hash_of(run.summary.progress.model->parameters()), hash_of(parties.model->parameters()));
  for (const RoundOutcome& round : run.summary.progress.rounds) {
    EXPECT_EQ(round.selected.size(), 2u);
    EXPECT_TRUE(round.answered.empty());
    EXPECT_EQ(round.loss, run.summary.progress.first_loss);
  }
  for (const auto& round : run.observation.took_part) EXPECT_EQ(std::ranges::count(round, TookPart::no), 4);
}

TEST(Federation, ClientsThatDropOutAreLeftOutOfTheMean) {
  const FederationParties parties = small_parties();
  FederationOptions options = small_options(12);
  options.selection.drop_out = 0.5;
  const SimulatedFederation dropped = simulated(parties, options);
  // The same rounds with those that answered as a schedule.
  FederationOptions scheduled = options;
  scheduled.selection = {.rule = SelectionRule::scheduled};
  bool some = false;
  for (const RoundOutcome& round : dropped.summary.progress.rounds) {
    scheduled.selection.schedule.push_back(round.answered);
    some = some || (round.answered.size() == 1 && round.selected.size() == 2);
  }
  EXPECT_TRUE(some);
  EXPECT_EQ(hash_of(simulated(parties, scheduled).summary.progress.model->parameters()),
            hash_of(dropped.summary.progress.model->parameters()));
}

TEST(Federation, SlowsDownAndStopsByTheValidationText) {
  FederationParties parties = small_parties();
  FederationOptions options = small_options(10);
  options.selection.drop_out = 1;  // nothing ever gets better
  options.plateau = {.rounds = 2, .patience = 5};
  const SimulatedFederation run = simulated(parties, options);
  EXPECT_TRUE(run.summary.stopped_early);
  ASSERT_EQ(run.summary.progress.rounds.size(), 5u);
  const std::vector<double> rates = {1e-2, 1e-2, 1e-3, 1e-3, 1e-4};
  for (std::size_t round = 0; round < 5; ++round)
    EXPECT_NEAR(run.summary.progress.rounds[round].learning_rate, rates[round], 1e-12) << round;
  parties.validation = {};
  options.plateau = {.rounds = 2};
  const SimulatedFederation blind = simulated(parties, options);
  EXPECT_FALSE(blind.summary.stopped_early);
  EXPECT_EQ(blind.summary.progress.rounds.back().learning_rate, 1e-2);
}

// A defence that leaves a trace of its seed.
class Mark : public ClientDefence {
 public:
  explicit Mark(Seed seed) : seed_(seed) {}
  void on_result(NamedTensors& result) const override {
    for (auto& [name, tensor] : result) tensor.fill_(static_cast<float>(seed_.value() % 1000));
  }

 private:
  Seed seed_;
};

TEST(Federation, EveryClientDefendsItselfAnewInEveryRound) {
  FederationParties parties = small_parties();
  std::set<std::uint64_t> seeds;
  std::set<std::int64_t> clients;
  parties.defences = [&](std::int64_t client, Seed seed) {
    seeds.insert(seed.value());
    clients.insert(client);
    return std::vector<std::shared_ptr<const ClientDefence>>{std::make_shared<Mark>(seed)};
  };
  FederationOptions options = small_options(4);
  options.selection.per_round = 4;
  set_threads(1);
  const SimulatedFederation run = simulated(parties, options);
  set_threads(0);
  EXPECT_EQ(seeds.size(), 16u);
  EXPECT_EQ(clients.size(), 4u);
  // What the clients sent is what was averaged.
  EXPECT_GE(run.summary.progress.model->parameters().at("decoder.bias").min().item<float>(), 0);
}

TEST(Federation, WhatMakesNoSenseIsRefused) {
  const FederationParties parties = small_parties();
  FederationOptions options = small_options(1);
  EXPECT_EQ(complaint(parties, options), "nothing");
  options.selection.per_round = 5;
  EXPECT_NE(complaint(parties, options).find("5 clients a round, expected 1 to 4"), std::string::npos);
  options = small_options(0);
  EXPECT_NE(complaint(parties, options).find("0 rounds"), std::string::npos);
  options = small_options(1);
  options.local.kind = UpdateKind::gradient;
  EXPECT_NE(complaint(parties, options).find("send gradient"), std::string::npos);
  options = small_options(1);
  options.local.epochs = 0;
  EXPECT_NE(complaint(parties, options).find("in round 1: epochs: 0 given"), std::string::npos);
  options = small_options(1);
  options.local.clip_value = -1;
  EXPECT_NE(complaint(parties, options).find("clipping: -1"), std::string::npos);
  FederationParties nobody = parties;
  nobody.clients.clear();
  EXPECT_NE(complaint(nobody, small_options(1)).find("without clients"), std::string::npos);
  FederationParties silent = parties;
  silent.clients[2] = {};
  EXPECT_EQ(complaint(silent, small_options(1)), "client 2: no word that the model would predict");
  FederationParties shorter = parties;
  for (ClientTexts& client : shorter.clients) client.sequence = 100;
  EXPECT_NE(complaint(shorter, small_options(1)).find("tokens, expected at least 199"), std::string::npos);
  FederationParties blind = parties;
  blind.validation = {};
  options = small_options(1);
  options.plateau.patience = 3;
  EXPECT_NE(complaint(blind, options).find("no validation text"), std::string::npos);
}

}  // namespace
}  // namespace undertext
