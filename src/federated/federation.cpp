#include "federated/federation.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "federated/fed_avg.h"

namespace undertext {
namespace {

// A fresh copy of the model, with these in place of its own.
std::shared_ptr<const LanguageModel> with_weights(const LanguageModel& model, const NamedTensors& weights) {
  std::shared_ptr<LanguageModel> copy = model.clone();
  for (const auto& [name, tensor] : weights) {
    at::Tensor handle = copy->parameters().at(name);
    handle.copy_(tensor);
  }
  return copy;
}

Seed seed_of(const ClientTask& task, const FederationOptions& options) {
  return options.seed.derive("client")
      .derive(static_cast<std::uint64_t>(task.client))
      .derive("round")
      .derive(static_cast<std::uint64_t>(task.round));
}

void check_texts(const ClientTexts& texts, const LanguageModel& model, const std::string& where) {
  if (texts.sequence < 0) fail("{}: sequences of {} tokens, expected at least 0", where, texts.sequence);
  const std::vector<Sentence> whole = whole_of(texts, overlap_for(model));
  model.check(whole, where);
  if (model.predicted(whole) == 0) fail("{}: no word that the model would predict", where);
}

}  // namespace

void check_federation(const FederationParties& parties, const FederationOptions& options) {
  if (parties.clients.empty()) fail("a federation without clients, expected at least one");
  if (options.rounds < 1) fail("{} rounds, expected at least 1", options.rounds);
  check_selection(options.selection, std::ssize(parties.clients), options.rounds);
  if (options.local.kind != UpdateKind::weights)
    fail("the clients of a federation send {}, expected weights", name_of(options.local.kind));
  if (options.local.zero_output_bias)
    fail("an output bias that each client sets to zero is never learned, expected it as it is");
  const Plateau& plateau = options.plateau;
  if (plateau.rounds < 0 || plateau.patience < 0 || !(plateau.factor > 0 && plateau.factor <= 1))
    fail("plateau: {} rounds, a factor of {} and a patience of {}, expected at least 0, 0 to 1, at least 0",
         plateau.rounds, plateau.factor, plateau.patience);
  for (std::size_t c = 0; c < parties.clients.size(); ++c)
    check_texts(parties.clients[c], *parties.model, fmt::format("client {}", c));
  if (!parties.validation.texts.empty())
    check_texts(parties.validation, *parties.model, "the validation text");
  else if (plateau.patience > 0)
    fail("a patience of {} rounds and no validation text, expected one to stop by", plateau.patience);
}

NamedTensors client_weights(const LanguageModel& global, const ClientTask& task,
                            const FederationParties& parties, const FederationOptions& options) {
  LocalTraining training = options.local;
  training.learning_rate = task.learning_rate;
  training.seed = seed_of(task, options);
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  if (parties.defences) defences = parties.defences(task.client, training.seed.derive("defence"));
  try {
    return train_locally(global, parties.clients.at(static_cast<std::size_t>(task.client)), training, "",
                         defences)
        .tensors;
  } catch (const UserError& error) {
    fail("client {} in round {}: {}", task.client, task.round, error.what());
  }
}

FederationServer::FederationServer(const FederationParties& parties, const FederationOptions& options,
                                   ClientTrainers& trainers, std::optional<FederationProgress> done)
    : parties_(parties), options_(options), trainers_(trainers) {
  check_federation(parties, options);
  for (const ClientTexts& client : parties.clients) sizes_.push_back(client.size());
  validation_ = whole_of(parties.validation, overlap_for(*parties.model));
  if (done) {
    progress_ = std::move(*done);
  } else {
    progress_.model = parties.model;
    progress_.first_loss = loss_of(*parties.model);
  }
}

bool FederationServer::stopped_early() const {
  return !validation_.empty() && ends_after(losses(), options_.plateau);
}

bool FederationServer::ended() const {
  return std::ssize(progress_.rounds) >= options_.rounds || stopped_early();
}

double FederationServer::next_rate() const {
  const double first = options_.local.learning_rate;
  return validation_.empty() ? first : rate_after(losses(), first, options_.plateau);
}

const RoundOutcome& FederationServer::round() {
  UNDERTEXT_CHECK(!ended());
  const std::int64_t number = std::ssize(progress_.rounds) + 1;
  RoundOutcome outcome;
  outcome.learning_rate = next_rate();
  outcome.selected = select_clients(options_.selection, sizes_, number, options_.seed);
  outcome.answered = answering(outcome.selected, options_.selection, number, options_.seed);
  std::vector<ClientTask> tasks;
  for (const std::int64_t client : outcome.answered) tasks.push_back({client, number, outcome.learning_rate});
  const std::unique_ptr<Averaging> average =
      parties_.averaging ? parties_.averaging(number) : std::make_unique<FedAvg>();
  NamedTensors global;
  for (const std::string& name : progress_.model->trainable(options_.local.train_embedding))
    global[name] = progress_.model->parameters().at(name);
  average->start(global);
  trainers_.train(*progress_.model, tasks, [&](const ClientTask& task, const NamedTensors& weights) {
    average->add(weights, sizes_[static_cast<std::size_t>(task.client)]);
  });
  // Where nobody answered, the model stays as it is, but for the noise of those who add some.
  if (const NamedTensors mean = average->mean(); !mean.empty())
    progress_.model = with_weights(*progress_.model, mean);
  outcome.loss = loss_of(*progress_.model);
  progress_.rounds.push_back(std::move(outcome));
  return progress_.rounds.back();
}

double FederationServer::loss_of(const LanguageModel& model) const {
  if (validation_.empty()) return 0;
  double loss = 0;
  for (const double nll : model.negative_log_likelihood(validation_)) loss += nll;
  return loss / static_cast<double>(model.predicted(validation_));
}

std::vector<double> FederationServer::losses() const {
  std::vector<double> all = {progress_.first_loss};
  for (const RoundOutcome& round : progress_.rounds) all.push_back(round.loss);
  return all;
}

}  // namespace undertext
