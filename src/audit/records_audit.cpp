#include "audit/records_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "attacks/records/exposure_table.h"
#include "attacks/records/record_attack.h"
#include "attacks/records/record_correlation.h"
#include "audit/defence_strengths.h"
#include "audit/federation/federation_setup.h"
#include "audit/record_results.h"
#include "audit/result_row.h"
#include "audit/told_defence.h"
#include "audit/trials.h"
#include "base/error.h"
#include "federated/federation_run.h"
#include "models/load_model.h"
#include "text/corpus.h"
#include "text/messages.h"

namespace undertext {
namespace {

using nlohmann::json;

constexpr const char* kClient = "client";
constexpr const char* kPlantingClient = "planting-client";

json client_json() {
  return {{"id", kClient},
          {"name", "Curious client"},
          {"sees", "the global model after every round and who took part in it"},
          {"does_not_see", "any other client's update or text; the server is trusted"},
          {"does", "takes part as agreed, keeps the models that it is sent, and reads"}};
}

json planting_client_json() {
  return {{"id", kPlantingClient},
          {"name", "Client that planted a text"},
          {"sees", "the global model after every round"},
          {"does_not_see", "any update or text, nor who took part"},
          {"does", "got one text of its own into the victim's data, and reads"}};
}

FederationTexts texts_of(const RecordsAuditOptions& options) {
  const Seed seed = Seed(options.seed).derive("records audit");
  TextSource source;
  if (options.texts)
    source = {read_lines(*options.texts), options.texts->string()};
  else
    source = {generate_messages(seed.derive("messages"), messages_for(options.clients, options.per_client)),
              "the built-in messages"};
  const Planting planting{
      .pattern = options.pattern, .times = options.times, .watermarks = options.watermarks};
  return shared_texts(source, {.clients = options.clients, .size = options.per_client, .lower = true}, {},
                      planting, seed);
}

// Without defences.
PreparedFederation setting_of(const RecordsAuditOptions& options) {
  FederationTexts texts = texts_of(options);
  FederationStart start;
  if (options.model) {
    const ModelFolder folder = load_model_folder(*options.model);
    start = {folder.model, folder.tokenizer};
  } else {
    start = fresh_start(*char_lstm_named("built-in:char-lstm"), texts, Seed(options.seed).derive("weights"));
  }
  return seated(std::move(texts), {options.sequence, false}, std::move(start),
                options.model ? *options.model : "the built-in model");
}

FederationOptions federation_of(const RecordsAuditOptions& options) {
  FederationOptions federation;
  federation.rounds = options.rounds;
  federation.selection.per_round = options.per_round;
  federation.local.epochs = options.epochs;
  federation.local.batch = options.batch;
  federation.local.learning_rate = options.learning_rate;
  federation.local.reduction = Reduction::mean;
  federation.local.train_embedding = true;
  federation.local.optimiser = Optimiser::adam;
  federation.local.clip_value = 1;
  federation.seed = Seed(options.seed).derive("federation");
  return federation;
}

// What was read of one federation by one method.
struct Reading {
  std::string method;
  RecordRecovery recovery;
  double seconds = 0;
};

class Audit {
 public:
  explicit Audit(const RecordsAuditOptions& options)
      : options_(options),
        setting_(setting_of(options)),
        pattern_(RecordPattern::parse(options.pattern)),
        before_(std::exp2(bits_per_character(*setting_.parties.model, setting_.test))) {}

  TrialRows run() {
    DefenceSet defences(
        [this](const DefencePlan& plan) {
          return plan.obstacle(DefenceSetting::federation, *setting_.parties.model, setting_.tokenizer.get());
        },
        {kClient, kPlantingClient});
    std::vector<Trial> trials = {{0, defences.add({})}};
    for (const DefencePlan& plan : chosen_defences(options_.defences, all_defences("records")))
      if (const DefencePlan* own = defences.add(plan)) trials.push_back({0, own});
    TrialRows all = run_trials("federations", trials,
                               [this](const Trial& trial, TrialRows& rows) { federate(*trial.plan, rows); });
    all.append(defences.refused());
    return all;
  }

  json results(TrialRows rows, double seconds) && {
    const LanguageModel& model = *setting_.parties.model;
    std::int64_t parameters = 0;
    for (const auto& [name, tensor] : model.parameters()) parameters += tensor.numel();
    json all = results_json({.preset = "records",
                             .command = options_.command,
                             .seed = options_.seed,
                             .seconds = seconds,
                             .model = {{"kind", model.kind()},
                                       {"source", options_.model ? options_.model->string() : "built-in"},
                                       {"parameters", parameters},
                                       {"vocabulary", setting_.tokenizer->size()},
                                       {"perplexity", nullptr}},
                             .threat_models = json::array({client_json(), planting_client_json()})},
                            std::move(rows));
    all["curves"] = std::move(curves_);
    return all;
  }

 private:
  // The federation with this defence, and what is read of it.
  void federate(const DefencePlan& plan, TrialRows& rows) {
    PreparedFederation own = setting_;
    own.options = federation_of(options_);
    // What each promises, it promises for clients that are asked in its own way.
    if (plan.find("dp-fedavg") != nullptr) own.options.selection.rule = SelectionRule::poisson;
    if (plan.find("dp-ftrl") != nullptr) own.options.selection.rule = SelectionRule::in_turn;
    defend(own, plan, own.options.seed);
    const auto trainers = thread_trainers(own.parties, own.options);
    std::optional<SimulatedFederation> done;
    const double training =
        seconds_of([&] { done = simulate_federation(own.parties, own.options, own.tokenizer, *trainers); });
    RowFacts facts;
    facts.attack = "records";
    facts.messages = setting_.records.texts.size();
    facts.protocol = fmt::format("FedAvg, {} rounds", options_.rounds);
    facts.training = federation_of(options_).local;
    facts.plan = plan;
    facts.promise = promise_of(own, plan, own.options.rounds);
    facts.training_seconds = training;
    facts.perplexity_before = before_;
    facts.perplexity_after =
        std::exp2(bits_per_character(*done->observation.model(done->observation.rounds), setting_.test));
    if (facts.promise) rows.add_promise(plan, fmt::format("{} rounds", options_.rounds), *facts.promise);
    for (const char* method : {"baseline", "eavesdrop", "watermark", "best"})
      add_row(facts, read(method, done->observation), rows);
    if (plan.none()) add_curves(done->observation);
  }

  Reading read(const std::string& method, const FederationObservation& observation) const {
    RecordAttack attack;
    attack.method = record_method_named(method);
    if (attack.method == RecordMethod::watermark)
      for (const PlantedText& mark : setting_.watermarks.texts)
        attack.watermarks.push_back({mark.client, mark.text});
    Reading reading{method, {}, 0};
    reading.seconds = seconds_of([&] { reading.recovery = recover_records(observation, pattern_, attack); });
    return reading;
  }

  void add_row(RowFacts facts, const Reading& reading, TrialRows& rows) const {
    const PlantedTexts& truth = setting_.records;
    const RecordScores scores = score_recovery(reading.recovery, truth);
    facts.id = fmt::format("{}{}", facts.plan.none() ? "" : facts.plan.text() + "-", reading.method);
    facts.method = reading.method;
    facts.threat_model = reading.method == "watermark" ? kPlantingClient : kClient;
    facts.told = told_of("records", reading.method, facts.plan, {});
    json row = row_json(facts);
    row["recovered"] = std::llround(scores.accuracy.front() * static_cast<double>(scores.victims));
    row["truth"] = scores.victims;
    row["scores"] = {{"exact", scores.accuracy.front()},
                     {"top_50", scores.accuracy.back()},
                     {"edits", scores.distance.front()},
                     {"owners", scores.owners ? json(*scores.owners) : json()}};
    row["seconds"] = reading.seconds;
    rows.samples.push_back({{"row", facts.id}, {"pairs", record_pairs(reading.recovery, truth)}});
    rows.rows.push_back(std::move(row));
  }

  // Figures 2 and 3: how the record of client 0 goes along with each client, round by round.
  void add_curves(const FederationObservation& observation) {
    const TokenPattern tokens(pattern_, *setting_.tokenizer);
    const std::vector<Sentence> record = {setting_.tokenizer->encode(setting_.records.texts.front().text)};
    const ExposureTable table = exposures(observation, tokens, record, {});
    const std::vector<double> changes = exposure_changes(of_record(table.whole, 0));
    std::vector<std::vector<double>> marks;
    for (const PlantedText& mark : setting_.watermarks.texts)
      marks.push_back(
          exposure_changes(exposures_of_text(observation, setting_.tokenizer->encode(mark.text))));
    const auto json_of = [](const Matrix<double>& m) {  // [client][round]
      json all = json::array();
      for (std::int64_t client = 0; client < m.cols; ++client) {
        json one = json::array();
        for (std::int64_t round = 0; round < m.rows; ++round) one.push_back(m(round, client));
        all.push_back(std::move(one));
      }
      return all;
    };
    curves_ = {{{"title", "Eavesdropping: correlation of client 0's record with who took part"},
                {"owner", 0},
                {"clients", json_of(eavesdropping_curves(changes, observation))}},
               {{"title", "Watermark: correlation of client 0's record with each client's watermark"},
                {"owner", 0},
                {"clients", json_of(watermark_curves(changes, marks))}}};
  }

  const RecordsAuditOptions& options_;
  PreparedFederation setting_;
  RecordPattern pattern_;
  double before_;
  json curves_ = json::array();
};

}  // namespace

json run_records_audit(const RecordsAuditOptions& options) {
  std::optional<Audit> audit;
  TrialRows rows;
  const double seconds = seconds_of([&] {
    audit.emplace(options);
    rows = audit->run();
  });
  return std::move(*audit).results(std::move(rows), seconds);
}

}  // namespace undertext
