// Some defences together: what they come to on the client, on the server and in the texts, where they cannot
// be, and what they promise.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "defences/accounting/accountant.h"
#include "defences/defence_spec.h"
#include "federated/defence.h"
#include "federated/fed_avg.h"
#include "federated/local_training.h"
#include "federated/selection.h"
#include "models/language_model.h"

namespace undertext {

// Where defences are to act.
enum class DefenceSetting {
  update,     // one client sends what it trained
  users,      // several do, and only the mean of their gradients is seen
  training,   // a model is trained, every step's gradient being a client's
  federation  // many rounds of many clients
};

// How often texts, and clients, take part in what is noised.
struct PrivateRun {
  std::int64_t texts = 0, batch = 0;  // of a client; batch 0: all in one
  std::int64_t steps = 0;             // in all, over epochs and rounds
  double delta = 1e-5;
};

// A federation as its server sees it.
struct FederationRun {
  Selection selection = {};
  std::int64_t clients = 0, rounds = 0;
};

struct Guarantee {
  PrivacyClaim claim;
  std::string statement;  // for a privacy review
};

class DefencePlan {
 public:
  DefencePlan() = default;
  // UserError where one kind comes twice, or two contradict each other.
  explicit DefencePlan(std::vector<DefenceSpec> specs);
  static DefencePlan parse(std::span<const std::string> texts);

  bool none() const { return specs_.empty(); }
  const std::vector<DefenceSpec>& specs() const { return specs_; }
  const DefenceSpec* find(std::string_view kind) const;  // null: not among them
  // "clipping:clip=1 noise-on-result:sigma=0.1"; empty: none.
  std::string text() const;

  // What acts on the device. UserError where a number is out of range.
  std::vector<std::shared_ptr<const ClientDefence>> client(Seed seed) const;
  // What a client trains, and on which texts of a step.
  void apply(LocalTraining& training) const;
  // What it trains on.
  std::vector<Sentence> texts(std::vector<Sentence> own, const Tokenizer& tokenizer) const;

  // Why they cannot be in this setting, on this model; nothing: they can. tokenizer: null where no text is
  // redacted.
  std::optional<std::string> obstacle(DefenceSetting setting, const LanguageModel& model,
                                      const Tokenizer* tokenizer) const;
  // UserError with the obstacle.
  void check(DefenceSetting setting, const LanguageModel& model, const Tokenizer* tokenizer) const;

  // Who takes the mean of each round's clients, by its number; nothing: the server, by FedAvg. UserError
  // where clients are selected in a way that a promise does not cover.
  using Averagings = std::function<std::unique_ptr<Averaging>(std::int64_t round)>;
  Averagings averaging(const FederationRun& run, Seed seed) const;

  // What is promised of one text of a client's; nothing: no defence of these promises anything.
  std::optional<Guarantee> guarantee(const PrivateRun& run) const;
  // What is promised of a client with all of its texts, to who sees every round's model. UserError as of
  // averaging().
  std::optional<Guarantee> guarantee(const FederationRun& run, double delta = 1e-5) const;

 private:
  std::vector<DefenceSpec> specs_;
};

}  // namespace undertext
