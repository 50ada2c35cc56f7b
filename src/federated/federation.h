// A whole federation (record-level, section II): a server that asks some of its clients in each round, lets
// them train, averages their weights (FedAvg) and sends the mean to all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "federated/client_texts.h"
#include "federated/local_training.h"
#include "federated/plateau.h"
#include "federated/selection.h"
#include "models/language_model.h"

namespace undertext {

// The defences of one client in one round; the seed is theirs.
using DefencesOf =
    std::function<std::vector<std::shared_ptr<const ClientDefence>>(std::int64_t client, Seed seed)>;

struct FederationOptions {
  std::int64_t rounds = 1;  // at most: see plateau.patience
  Selection selection = {};
  // Its learning rate is that of the first rounds; its seed is not used: each client has one of its own in
  // each round.
  LocalTraining local = {};
  Plateau plateau = {};
  Seed seed{1};
};

// Who takes part, and with what.
struct FederationParties {
  std::shared_ptr<const LanguageModel> model;  // before the first round
  std::vector<ClientTexts> clients;
  ClientTexts validation = {};  // the server's own; nothing: it neither slows down nor stops early
  DefencesOf defences = {};
};

// UserError for options that make no sense or parties that do not fit: a client without text, a text that the
// model cannot read, updates other than weights.
void check_federation(const FederationParties& parties, const FederationOptions& options);

// A client's training in one round.
struct ClientTask {
  std::int64_t client, round;
  double learning_rate;
};

// What the client sends: the same whichever thread or machine does it.
NamedTensors client_weights(const LanguageModel& global, const ClientTask& task,
                            const FederationParties& parties, const FederationOptions& options);

// Where clients train.
class ClientTrainers {
 public:
  virtual ~ClientTrainers() = default;
  using Take = std::function<void(const ClientTask& task, const NamedTensors& weights)>;
  // Trains all of them from the same model and hands over what they send, in the order of the tasks.
  virtual void train(const LanguageModel& global, std::span<const ClientTask> tasks, const Take& take) = 0;
};

// In the threads of this process, a client in each. Both must outlive it.
std::unique_ptr<ClientTrainers> thread_trainers(const FederationParties& parties,
                                                const FederationOptions& options);

struct RoundOutcome {
  std::vector<std::int64_t> selected, answered;  // in rising order; who answered took part
  double learning_rate = 0;
  double loss = 0;  // of the model after the round, nats a predicted token of the validation text; without: 0
};

// What a server that goes on after an interruption knows.
struct FederationProgress {
  double first_loss = 0;  // of the model before the first round
  std::vector<RoundOutcome> rounds;
  std::shared_ptr<const LanguageModel> model;  // after the last of them
};

// The server. One round at a time, so that whoever runs it can keep what came of each.
class FederationServer {
 public:
  // done: rounds of the same federation that went before; nothing: none. The rest must outlive it.
  FederationServer(const FederationParties& parties, const FederationOptions& options,
                   ClientTrainers& trainers, std::optional<FederationProgress> done = {});

  const FederationProgress& progress() const { return progress_; }
  bool ended() const;  // all rounds are done, or patience is out
  bool stopped_early() const;
  double next_rate() const;
  // The next round. The model before it is left as it is, for those who still look at it.
  const RoundOutcome& round();

 private:
  double loss_of(const LanguageModel& model) const;
  std::vector<double> losses() const;

  const FederationParties& parties_;
  const FederationOptions& options_;
  ClientTrainers& trainers_;
  std::vector<std::int64_t> sizes_;
  std::vector<Sentence> validation_;
  FederationProgress progress_;
};

}  // namespace undertext
