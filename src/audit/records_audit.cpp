#include "audit/records_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attacks/records/exposure_table.h"
#include "attacks/records/record_attack.h"
#include "attacks/records/record_correlation.h"
#include "audit/federation/federation_setup.h"
#include "audit/record_results.h"
#include "audit/result_row.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/progress.h"
#include "defences/dpsgd.h"
#include "defences/perturbed_embedding.h"
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

DefencesOf defences_of(const RecordsDefence& defence) {
  return [defence](std::int64_t, Seed seed) {
    std::vector<std::shared_ptr<const ClientDefence>> all;
    if (defence.embedding_noise > 0)
      all.push_back(std::make_shared<NoisedEmbedding>(defence.embedding_noise));
    if (defence.embedding_dropout > 0)
      all.push_back(std::make_shared<DropoutEmbedding>(defence.embedding_dropout));
    if (defence.dp_sigma > 0) all.push_back(std::make_shared<DpSgd>(1, defence.dp_sigma, seed));
    return all;
  };
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

  void add(const RecordsDefence& defence, Progress& progress) {
    setting_.parties.defences = defences_of(defence);
    const FederationOptions federation = federation_of(options_);
    const auto trainers = thread_trainers(setting_.parties, federation);
    const SimulatedFederation done =
        simulate_federation(setting_.parties, federation, setting_.tokenizer, *trainers,
                            [&, first = true](const FederationServer&) mutable {
                              if (!first) progress.advance(1, defence.name);
                              first = false;
                            });
    const double after =
        std::exp2(bits_per_character(*done.observation.model(done.observation.rounds), setting_.test));
    for (const char* method : {"baseline", "eavesdrop", "watermark", "best"})
      add_row(defence, read(method, done.observation), federation.local, after);
    if (defence.name == "none") add_curves(done.observation);
  }

  json results(double seconds) && {
    const LanguageModel& model = *setting_.parties.model;
    std::int64_t parameters = 0;
    for (const auto& [name, tensor] : model.parameters()) parameters += tensor.numel();
    return {{"format", "undertext-results"},
            {"format_version", 1},
            {"version", kVersion},
            {"command", options_.command},
            {"preset", "records"},
            {"seed", options_.seed},
            {"seconds", seconds},
            {"model",
             {{"kind", model.kind()},
              {"source", options_.model ? options_.model->string() : "built-in"},
              {"parameters", parameters},
              {"vocabulary", setting_.tokenizer->size()},
              {"perplexity", nullptr}}},
            {"threat_models", json::array({client_json(), planting_client_json()})},
            {"rows", std::move(rows_)},
            {"samples", std::move(samples_)},
            {"curves", std::move(curves_)}};
  }

 private:
  Reading read(const std::string& method, const FederationObservation& observation) const {
    RecordAttack attack;
    attack.method = record_method_named(method);
    if (attack.method == RecordMethod::watermark)
      for (const PlantedText& mark : setting_.watermarks.texts)
        attack.watermarks.push_back({mark.client, mark.text});
    const auto start = std::chrono::steady_clock::now();
    RecordRecovery recovery = recover_records(observation, pattern_, attack);
    return {method, std::move(recovery),
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  }

  void add_row(const RecordsDefence& defence, const Reading& reading, const LocalTraining& training,
               double after) {
    const PlantedTexts& truth = setting_.records;
    const RecordScores scores = score_recovery(reading.recovery, truth);
    RowFacts facts;
    facts.id = fmt::format("d{}-{}", rows_.size() / 4, reading.method);
    facts.attack = "records";
    facts.method = reading.method;
    facts.threat_model = reading.method == "watermark" ? kPlantingClient : kClient;
    facts.messages = truth.texts.size();
    facts.protocol = fmt::format("FedAvg, {} rounds", options_.rounds);
    facts.training = training;
    facts.defence = defence.name;
    facts.sigma = defence.sigma;
    facts.perplexity_before = before_;
    facts.perplexity_after = after;
    json row = row_json(facts);
    row["recovered"] = std::llround(scores.accuracy.front() * static_cast<double>(scores.victims));
    row["truth"] = scores.victims;
    row["scores"] = {{"exact", scores.accuracy.front()},
                     {"top_50", scores.accuracy.back()},
                     {"edits", scores.distance.front()},
                     {"owners", scores.owners ? json(*scores.owners) : json()}};
    row["seconds"] = reading.seconds;
    samples_.push_back({{"row", facts.id}, {"pairs", record_pairs(reading.recovery, truth)}});
    rows_.push_back(std::move(row));
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
  json rows_ = json::array(), samples_ = json::array(), curves_ = json::array();
};

}  // namespace

json run_records_audit(const RecordsAuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Audit audit(options);
  Progress progress("federations", options.rounds * std::ssize(options.defences), "rounds");
  for (const RecordsDefence& defence : options.defences) audit.add(defence, progress);
  return std::move(audit).results(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace undertext
