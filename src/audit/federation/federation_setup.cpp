#include "audit/federation/federation_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "audit/experiment/cell_defence.h"
#include "audit/experiment/places.h"
#include "audit/experiment/schema.h"
#include "base/error.h"
#include "federated/federation_run.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// What a federation is made of; the rest says what is done with it afterwards.
constexpr const char* kSections[] = {"model", "texts", "federation", "records", "defence", "run"};

json federation_part(const json& cell) {
  json part;
  for (const char* section : kSections) part[section] = cell.at(section);
  part["run"].erase("size");
  return part;
}

// Settings of other kinds of experiments that a federation would silently pass over.
void check_settings(const json& cell, const fs::path& file) {
  const json& federation = cell.at("federation");
  const auto refuse = [&](const char* key, const json& value, const char* expected) {
    fail("{}: {} is {}, expected {} in a federation of many rounds", file.string(), key, value.dump(),
         expected);
  };
  if (federation.at("rounds") == 0)
    fail("{}: federation.rounds is 0, expected how many rounds there are", file.string());
  if (federation.at("sends") != "weights") refuse("federation.sends", federation.at("sends"), "\"weights\"");
  if (federation.at("users") != 1) refuse("federation.users", federation.at("users"), "1");
  if (federation.at("zero_output_bias") == true) refuse("federation.zero_output_bias", true, "false");
  for (const char* key : {"tokens", "length"})
    if (const json& value = cell.at("texts").at(key); value != 0)
      refuse(fmt::format("texts.{}", key).c_str(), value, "0 (texts.sequence cuts texts)");
}

Selection selection_of(const json& federation, const fs::path& file) {
  Selection selection;
  const std::string schedule = federation.at("schedule");
  const std::int64_t clients = federation.at("clients"), asked = federation.at("per_round");
  selection.drop_out = federation.at("drop_out");
  selection.per_round = asked == 0 ? clients : asked;
  for (const SelectionRule rule :
       {SelectionRule::uniform, SelectionRule::by_size, SelectionRule::poisson, SelectionRule::in_turn})
    if (schedule == name_of(rule)) {
      selection.rule = rule;
      return selection;
    }
  const fs::path place = resolved_place(schedule, file);
  if (std::error_code ignored; !fs::exists(place, ignored))
    fail(
        "{}: federation.schedule: there is no file {}, expected one, \"uniform\", \"by-size\", \"poisson\" "
        "or "
        "\"in-turn\"",
        file.string(), place.string());
  selection.rule = SelectionRule::scheduled;
  selection.schedule = read_schedule(place);
  return selection;
}

FederationOptions options_of(const json& cell, const fs::path& file, Seed seed) {
  const json& federation = cell.at("federation");
  FederationOptions options;
  options.rounds = federation.at("rounds");
  options.selection = selection_of(federation, file);
  options.local.epochs = federation.at("epochs");
  options.local.batch = federation.at("batch");
  options.local.learning_rate = federation.at("learning_rate");
  options.local.reduction = federation.at("reduction") == "sum" ? Reduction::sum : Reduction::mean;
  options.local.train_embedding = federation.at("train") == "all";
  options.local.dropout = federation.at("dropout");
  options.local.optimiser = federation.at("optimiser") == "adam" ? Optimiser::adam : Optimiser::sgd;
  options.local.clip_value = federation.at("clip_value");
  options.local.clip_norm = federation.at("clip_norm");
  options.local.carry_state = federation.at("carry_state");
  options.plateau.rounds = federation.at("plateau");
  options.plateau.patience = federation.at("patience");
  options.seed = seed.derive("federation");
  return options;
}

}  // namespace

json one_federation(const ExperimentFile& file) {
  std::set<json> all;
  for (const json& cell : file.cells) all.insert(federation_part(cell));
  if (all.size() == 1) return *all.begin();
  std::vector<std::string> differing;
  for (const std::string& name : value_names()) {
    const json::json_pointer place("/" + name.substr(0, name.find('.')) + "/" +
                                   name.substr(name.find('.') + 1));
    std::set<json> values;
    for (const json& one : all) values.insert(one.value(place, json()));
    if (values.size() > 1) differing.push_back(name);
  }
  fail("{}: {} federations, expected one: {} {} several values (--set KEY=VALUE gives it one)",
       file.file.string(), all.size(), fmt::join(differing, ", "), differing.size() == 1 ? "has" : "have");
}

FederationStart fresh_start(const CharLstmConfig& config, const FederationTexts& texts, Seed weights) {
  FederationStart start;
  start.tokenizer = alphabet_of(texts);
  start.model = new_char_lstm(config, *start.tokenizer, weights);
  return start;
}

PreparedFederation seated(FederationTexts texts, const TextCut& cut, FederationStart start,
                          const fs::path& from) {
  check_planted(texts, *start.tokenizer, from);
  PreparedFederation made;
  made.parties.model = start.model;
  for (const std::vector<std::string>& lines : texts.clients)
    made.parties.clients.push_back(encoded(lines, cut, *start.tokenizer));
  made.parties.validation = encoded(texts.validation, cut, *start.tokenizer);
  made.test = whole_of(encoded(texts.test, cut, *start.tokenizer), overlap_for(*start.model));
  made.tokenizer = std::move(start.tokenizer);
  made.records = std::move(texts.records);
  made.watermarks = std::move(texts.watermarks);
  return made;
}

void defend(PreparedFederation& federation, const DefencePlan& plan, Seed seed) {
  FederationParties& parties = federation.parties;
  plan.check(DefenceSetting::federation, *parties.model, federation.tokenizer.get());
  plan.apply(federation.options.local);
  for (ClientTexts& client : parties.clients)
    client.texts = plan.texts(std::move(client.texts), *federation.tokenizer);
  parties.defences = [plan](std::int64_t, Seed own) { return plan.client(own); };
  const FederationOptions& options = federation.options;
  parties.averaging = plan.averaging({options.selection, std::ssize(parties.clients), options.rounds}, seed);
  federation.recipe = plan.text();
}

std::optional<Guarantee> promise_of(const PreparedFederation& federation, const DefencePlan& plan,
                                    std::int64_t rounds) {
  const FederationOptions& options = federation.options;
  const std::vector<ClientTexts>& clients = federation.parties.clients;
  if (auto of_user = plan.guarantee(FederationRun{options.selection, std::ssize(clients), rounds}))
    return of_user;
  std::optional<Guarantee> least;  // of the client that it holds least for
  for (const ClientTexts& client : clients) {
    const std::int64_t pieces =
        std::max<std::int64_t>(1, client.sequence == 0 ? client.size() : client.size() / client.sequence);
    const std::int64_t steps = rounds * options.local.epochs * steps_per_epoch(pieces, options.local.batch);
    auto own = plan.guarantee(PrivateRun{.texts = pieces, .batch = options.local.batch, .steps = steps});
    if (own && (!least || own->claim.epsilon > least->claim.epsilon)) least = std::move(own);
  }
  return least;
}

PreparedFederation prepare_federation(const json& cell, const fs::path& file, Sources& sources) {
  check_settings(cell, file);
  const Seed seed(cell.at("run").at("seed").get<std::uint64_t>());
  FederationOptions options = options_of(cell, file, seed);
  FederationTexts texts = federation_texts(cell, file, sources, seed);
  const std::string place = model_place(cell.at("model"), file);
  FederationStart start;
  if (const auto config = char_lstm_named(place)) {
    start = fresh_start(*config, texts, seed.derive("weights"));
  } else {
    const std::shared_ptr<const ModelFolder> folder = sources.model(place);
    start = {folder->model, folder->tokenizer};
  }
  const TextCut cut{cell.at("texts").at("sequence"), cell.at("texts").at("append_end")};
  PreparedFederation made = seated(std::move(texts), cut, std::move(start), file);
  made.options = std::move(options);
  defend(made, plan_of(cell.at("defence")), seed);
  return made;
}

fs::path truth_file(const fs::path& folder) {
  return place_at(folder).folder.string() + ".truth.json";
}

fs::path watermark_file(const fs::path& folder) {
  return place_at(folder).folder.string() + ".watermarks.json";
}

void write_planted_beside(const fs::path& folder, const PreparedFederation& federation) {
  if (!federation.records.texts.empty()) write_planted(federation.records, truth_file(folder));
  if (!federation.watermarks.texts.empty()) write_planted(federation.watermarks, watermark_file(folder));
}

}  // namespace undertext
