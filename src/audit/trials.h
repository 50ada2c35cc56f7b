// The loop that all audits share: cases under defences, in threads, their rows in the order in which they
// were asked for.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "defences/defence_plan.h"

namespace undertext {

// What came of trials so far, as lists of results.json.
struct TrialRows {
  nlohmann::json rows = nlohmann::json::array(), samples = nlohmann::json::array(),
                 impossible = nlohmann::json::array(), privacy = nlohmann::json::array();

  void append(TrialRows more);
  // attack: "sentences", or whatever else cannot be run.
  void add_impossible(const std::string& attack, const std::string& threat_model, const DefencePlan& plan,
                      const std::string& why);
  // of: for whom it holds, "16 messages, FedSGD". The same for the same defence is said once.
  void add_promise(const DefencePlan& plan, const std::string& of, const Guarantee& promise);
};

// As rows hold a defence; none: {"kind": "none", ...}.
nlohmann::json defence_json(const DefencePlan& plan);

// The defences that an audit tries, each once.
class DefenceSet {
 public:
  // Why a defence cannot be had here; nothing: it can.
  using Obstacle = std::function<std::optional<std::string>(const DefencePlan&)>;
  // threat_models: all against which a defence that cannot be had is missing.
  DefenceSet(Obstacle obstacle, std::vector<std::string> threat_models)
      : obstacle_(std::move(obstacle)), threat_models_(std::move(threat_models)) {}

  // Where it is kept, for as long as the set lives; null where it cannot be had.
  const DefencePlan* add(const DefencePlan& plan);
  std::vector<DefencePlan> possible() const;
  // What cannot be had, and why.
  const TrialRows& refused() const { return refused_; }

 private:
  Obstacle obstacle_;
  std::vector<std::string> threat_models_;
  std::map<std::string, std::optional<DefencePlan>> plans_;  // by what is typed; nothing: cannot be had
  TrialRows refused_;
};

// A case by its number, under a defence.
struct Trial {
  std::size_t audited = 0;
  const DefencePlan* plan = nullptr;
};

// run(trial, rows) for all of them, in threads. title: of the progress.
TrialRows run_trials(const std::string& title, std::span<const Trial> trials,
                     const std::function<void(const Trial&, TrialRows&)>& run);

// What flags say: "all" (of `everything`), "none", or specs, each of which may be several defences with
// blanks between that are on together. UserError for "all" or "none" beside others, and for a spec that is
// none.
std::vector<DefencePlan> chosen_defences(std::span<const std::string> given,
                                         std::span<const std::string> everything);
DefencePlan parse_plan(const std::string& spec);

// results.json, but for what only one preset has.
struct AuditFacts {
  std::string preset, command;
  std::uint64_t seed = 1;
  double seconds = 0;
  nlohmann::json model, threat_models;
};
nlohmann::json results_json(const AuditFacts& facts, TrialRows rows);

double seconds_of(const std::function<void()>& body);

}  // namespace undertext
