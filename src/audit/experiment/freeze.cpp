#include "audit/experiment/freeze.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/experiment/cell_defence.h"
#include "audit/experiment/cell_texts.h"
#include "audit/experiment/places.h"
#include "audit/experiment/schema.h"
#include "audit/federation/char_lstm_recipe.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/sha256.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kLongestGenerated = 12;  // words of a built-in message

// Which messages of a file the experiment takes.
json choice_of(const json& texts) {
  json choice;
  for (const char* key : {"words", "split", "min_words", "max_words", "max_unknown", "min_entities"})
    choice[key] = texts.at(key);
  return choice;
}

class Freezer {
 public:
  Freezer(const ExperimentFile& file, Sources& sources) : file_(file), sources_(sources) {}

  std::vector<FrozenCell> cells() {
    for (const json& draft : file_.cells) add(draft);
    if (cells_.empty()) fail("{}: no cell is left to run", file_.file.string());
    return std::move(cells_);
  }

 private:
  // Where the client's messages come from.
  struct Origin {
    std::string place;                  // a file, kBuiltIn, or empty: the text in the experiment's file
    std::string hash;                   // empty: built-in, which the seed determines
    std::vector<std::string> messages;  // empty: built-in, which never end
  };

  const Origin& origin(const std::string& place, const json& chosen) {
    const auto [found, fresh] = origins_.try_emplace({place, choice_of(chosen).dump()});
    if (fresh) {
      const auto texts = sources_.texts(place);
      found->second = {place, texts->hash, chosen_messages(texts->lines, chosen)};
    }
    return found->second;
  }

  std::vector<Origin> origins(const json& draft) {
    const json& texts = draft.at("texts");
    const std::int64_t words = texts.at("words");
    if (const std::string text = texts.at("text"); !text.empty())
      return {{"", sha256_of(text), chosen_messages(lines_of_text(text), texts)}};
    std::vector<Origin> all;
    for (const std::string& place : text_places(texts, draft.at("run").at("size"), file_.file)) {
      if (place == kRandom) {
        if (texts.at("length") == 0)
          fail("{}: texts.length is missing, which random tokens need", file_.file.string());
        all.push_back({kRandom, kRandom, {}});
        continue;
      }
      if (place != kBuiltIn) {
        all.push_back(origin(place, texts));
        continue;
      }
      if (words > kLongestGenerated)
        fail("{}: texts.words is {}, expected at most {} with the built-in messages", file_.file.string(),
             words, kLongestGenerated);
      if (draft.at("run").at("size") == 0)
        fail("{}: run.sizes is missing, which the built-in messages need", file_.file.string());
      all.push_back({kBuiltIn, "", {}});
    }
    return all;
  }

  // Messages of each client: what the file says, or an equal share of all.
  std::int64_t size_for(const json& draft, const Origin& from) const {
    const std::int64_t clients = draft.at("federation").at("clients"), given = draft.at("run").at("size");
    check_training(draft, from, clients * given);
    // How many sequences a file has depends on the model's tokens: the cells find out.
    if (from.place == kBuiltIn || draft.at("texts").at("length") > 0) return given;
    const auto there = static_cast<std::int64_t>(from.messages.size());
    const std::int64_t size = given > 0 ? given : there / clients;
    if (size == 0 || size * clients > there)
      fail("{}: {} messages, expected {} for {} of {}", from.place.empty() ? file_.file.string() : from.place,
           there, std::max<std::int64_t>(size, 1) * clients,
           clients == 1 ? "a client" : fmt::format("{} clients", clients), std::max<std::int64_t>(size, 1));
    return size;
  }

  // Whether the messages are enough for a model that is trained on some of them first.
  void check_training(const json& draft, const Origin& from, std::int64_t attacked) const {
    const json& training = draft.at("training");
    if (training.at("on") != "private") return;
    const std::int64_t trained = training.at("texts"), kept = validation_size(training);
    if (draft.at("texts").at("length") > 0)
      fail("{}: texts.length and training.on, expected one of them", file_.file.string());
    if (draft.at("run").at("size") == 0)
      fail("{}: run.sizes is missing, which training.on needs", file_.file.string());
    const bool held_out = training.at("attacked") == "held-out";
    if (!held_out && attacked > trained)
      fail("{}: the clients have {} messages, expected {} at most (training.texts)", file_.file.string(),
           attacked, trained);
    if (from.place == kBuiltIn) return;
    const bool utility = draft.at("texts").at("held_out") == "";
    const std::int64_t all = trained + (held_out ? attacked : 0) + kept +
                             (utility ? draft.at("metrics").at("utility").get<std::int64_t>() : 0);
    if (std::ssize(from.messages) < all)
      fail("{}: {} messages, expected {} for the training, the clients and what is held out",
           from.place.empty() ? file_.file.string() : from.place, from.messages.size(), all);
  }

  std::vector<std::int64_t> chosen_clients(const json& draft) const {
    const json& federation = draft.at("federation");
    std::vector<std::int64_t> clients(federation.at("clients").get<std::size_t>());
    for (std::size_t i = 0; i < clients.size(); ++i) clients[i] = static_cast<std::int64_t>(i);
    const auto selected = federation.at("selected").get<std::size_t>();
    if (selected > clients.size())
      fail("{}: federation.selected is {}, expected at most the {} clients", file_.file.string(), selected,
           clients.size());
    if (federation.at("selection") == "random") {
      Random random(Seed(draft.at("run").at("seed").get<std::uint64_t>()).derive("selection"));
      for (std::size_t i = clients.size(); i > 1; --i) std::swap(clients[i - 1], clients[random.below(i)]);
    }
    if (selected > 0) clients.resize(selected);
    return clients;
  }

  // Where the utility is measured.
  void add_held_out(const json& draft, const Origin& from, std::int64_t size, json& config) {
    const std::int64_t count = draft.at("metrics").at("utility");
    if (count == 0) return;
    const std::string given = draft.at("texts").at("held_out");
    std::string place = from.place;
    std::int64_t first = draft.at("federation").at("clients").get<std::int64_t>() * size;
    if (!given.empty()) {
      place = given == kBuiltIn ? given : resolved_place(given, file_.file).string();
      std::error_code ignored;
      if (place != kBuiltIn && !fs::exists(place, ignored) && from.place == kBuiltIn) place = kBuiltIn;
      first = 0;
    }
    config["places"]["held_out"] = place;
    if (place == kBuiltIn) return;
    if (place.empty() || (given.empty() && draft.at("texts").at("length") > 0))
      fail("{}: texts.held_out is missing, which metrics.utility needs with texts.text and texts.length",
           file_.file.string());
    const Origin& held_out = origin(place, draft.at("texts"));
    const auto there = static_cast<std::int64_t>(held_out.messages.size());
    if (given.empty() && draft.at("training").at("on") == "private") first = there - count;
    if (first + count > there)
      fail("{}: {} messages are left for the utility, expected {} (metrics.utility)", place,
           std::max<std::int64_t>(there - first, 0), count);
    config["texts"]["held_out_hash"] = held_out.hash;
    config["texts"]["held_out_from"] = first;
  }

  // What the malicious server measures on.
  void add_server(const json& draft, const Origin& from, json& config) {
    config["server"] = draft.at("server");
    if (draft.at("server").at("state") == "honest") return;
    const std::string given = draft.at("server").at("texts");
    std::string place =
        given == kBuiltIn || given == kRandom ? given : resolved_place(given, file_.file).string();
    std::error_code ignored;
    if (place != given && !fs::exists(place, ignored)) {
      if (from.place != kBuiltIn) fail("{}: server.texts: there is no file {}", file_.file.string(), place);
      place = kBuiltIn;
    }
    config["places"]["server_texts"] = place;
    config["server"]["texts"] = name_of_place(place);
    config["server"]["hash"] = place == kBuiltIn || place == kRandom ? place : sources_.texts(place)->hash;
  }

  // Which entities count; empty: those that rules find.
  void add_entities(const json& draft, json& config) {
    const std::string given = draft.at("metrics").at("entities");
    config["metrics"].erase("entities");
    if (given.empty()) return;
    const std::string place = resolved_place(given, file_.file).string();
    std::error_code ignored;
    if (!fs::exists(place, ignored))
      fail("{}: metrics.entities: there is no file {}", file_.file.string(), place);
    config["places"]["entities"] = place;
    config["metrics"]["entities"] = name_of_place(place);
    config["metrics"]["entities_hash"] = sources_.entities(place)->hash;
  }

  // A whole federation is one cell: its clients' records are read together.
  void add_federation(const json& draft) {
    if (draft.at("attack").at("kind") != "records")
      fail("{}: attack.kind is {}, expected \"records\" where federation.rounds is above 0",
           file_.file.string(), draft.at("attack").at("kind").dump());
    if (draft.at("records").at("pattern") == "")
      fail("{}: records.pattern is missing: there is nothing to read", file_.file.string());
    if (draft.at("attack").at("ranked_by") == "watermark" && draft.at("records").at("watermarks") == 0)
      fail("{}: attack.ranked_by is \"watermark\", expected records.watermarks above 0", file_.file.string());
    json config;
    for (const char* section : {"model", "texts", "training", "server", "federation", "records", "defence",
                                "attack", "metrics", "run"})
      config[section] = draft.at(section);
    const std::string model = model_place(draft.at("model"), file_.file);
    config["model"] = {{"folder", name_of_place(model)},
                       {"hash", char_lstm_named(model) ? model : sources_.model_hash(model)}};
    config["places"] = {{"cell", draft}, {"file", file_.file.string()}};
    const std::string text = draft.at("texts").at("text");
    const std::string place = text.empty() ? text_places(draft.at("texts"), 0, file_.file).front() : "";
    config["texts"]["files"] = text.empty() ? name_of_place(place) : "given";
    config["texts"]["hash"] = text.empty() ? place : sha256_of(text);
    if (text.empty() && place != kBuiltIn && place != kRandom) {
      config["places"]["texts"] = place;
      config["texts"]["hash"] = sources_.texts(place)->hash;
    }
    if (const std::string held_out = draft.at("texts").at("held_out"); !held_out.empty()) {
      const std::string there = resolved_place(held_out, file_.file).string();
      config["places"]["held_out"] = there;
      config["texts"]["held_out_hash"] = sources_.texts(there)->hash;
    }
    std::string key = key_of_cell(config);
    if (seen_.insert(key).second) cells_.push_back({std::move(key), std::move(config)});
  }

  void check_sequences(const json& draft) const {
    const bool cut = draft.at("texts").at("length") > 0;
    if (cut && draft.at("texts").at("tokens") > 0)
      fail("{}: texts.length and texts.tokens, expected one of them", file_.file.string());
    if (cut && draft.at("run").at("size") == 0)
      fail("{}: run.sizes is missing, which texts.length needs", file_.file.string());
    if (!cut && draft.at("federation").at("users") > 1)
      fail("{}: federation.users is {}, expected texts.length with it", file_.file.string(),
           draft.at("federation").at("users").dump());
  }

  void check_defence(const json& draft) const {
    try {
      plan_of(draft.at("defence"));
    } catch (const UserError& error) {
      fail("{}: defence: {}", file_.file.string(), error.what());
    }
  }

  void add(const json& draft) {
    check_defence(draft);
    const bool records = draft.at("attack").at("kind") == "records";
    if (draft.at("federation").at("rounds") > 0) return add_federation(draft);
    if (records)
      fail(
          "{}: attack.kind is \"records\", which are read from whole federations; expected federation.rounds "
          "above 0",
          file_.file.string());
    check_sequences(draft);
    const std::string model = model_place(draft.at("model"), file_.file);
    for (const Origin& from : origins(draft)) {
      const std::int64_t size = size_for(draft, from);
      json config = {{"model", {{"folder", name_of_place(model)}, {"hash", sources_.model_hash(model)}}},
                     {"texts",
                      {{"files", from.place.empty() ? "given" : name_of_place(from.place)},
                       {"hash", from.hash},
                       {"tokens", draft.at("texts").at("tokens")},
                       {"length", draft.at("texts").at("length")},
                       {"append_end", draft.at("texts").at("append_end")}}},
                     {"places", {{"model", model}, {"texts", from.place}}}};
      config["texts"].update(choice_of(draft.at("texts")));
      if (from.place.empty()) config["places"]["text"] = draft.at("texts").at("text");
      for (const char* section : {"training", "federation", "defence", "attack", "metrics", "run"})
        config[section] = draft.at(section);
      // They say which cells there are, and nothing about any one of them.
      for (const char* key : {"clients", "selected", "selection", "rounds"}) config["federation"].erase(key);
      config["run"]["size"] = size;
      add_server(draft, from, config);
      add_entities(draft, config);
      add_held_out(draft, from, size, config);
      for (const std::int64_t client : chosen_clients(draft)) {
        config["texts"]["client"] = client;
        std::string key = key_of_cell(config);
        if (seen_.insert(key).second) cells_.push_back({std::move(key), config});
      }
    }
  }

  const ExperimentFile& file_;
  Sources& sources_;
  std::map<std::pair<std::string, std::string>, Origin> origins_;  // by place and what is chosen of it
  std::set<std::string> seen_;
  std::vector<FrozenCell> cells_;
};

// Repetitions of a cell differ in these and in nothing else, unless a plot sets them side by side.
const std::set<std::string> kRepetitions = {"texts.files", "texts.client", "run.seed"};

bool plotted(const std::vector<ReportedPlot>& plots, const std::string& name) {
  return std::ranges::any_of(plots, [&](const ReportedPlot& plot) {
    const auto chosen = [&](const auto& pair) { return pair.first == name; };
    return plot.x == name || plot.series == name || plot.facet == name ||
           std::ranges::any_of(plot.where, chosen);
  });
}

// Axes are the values that differ between cells; the rest are settings. A value that some cells do not have
// and all others share (the strength of the only noise) goes with what it belongs to, and is an axis only for
// a plot's sake.
void add_axes(const std::vector<FrozenCell>& cells, const std::vector<ReportedPlot>& plots, json& facts) {
  facts["axes"] = json::array();
  facts["settings"] = json::array();
  for (const std::string& name : value_names()) {
    if (kRepetitions.contains(name) && !plotted(plots, name)) continue;
    std::set<json> values;
    for (const FrozenCell& cell : cells) values.insert(value_of(cell.config, name));
    const bool missing = values.erase(json()) > 0;
    if (values.size() > 1 || (values.size() == 1 && missing && plotted(plots, name)))
      facts["axes"].push_back(name);
    else if (!values.empty())
      facts["settings"].push_back({name, *values.begin()});
  }
}

// Everything that the result depends on.
json hashed_part(json config) {
  config.erase("places");
  config["model"].erase("folder");
  config["texts"].erase("files");
  config["server"].erase("texts");
  config["metrics"].erase("entities");
  config["texts"].erase("held_out");
  return config;
}

}  // namespace

FrozenExperiment freeze_experiment(const ExperimentFile& file, const ExperimentRequest& request,
                                   Sources& sources, const std::string& command) {
  FrozenExperiment experiment;
  experiment.name = file.name;
  experiment.cells = Freezer(file, sources).cells();
  experiment.facts = {{"title", file.title}, {"source", file.source},      {"says", file.says},
                      {"command", command},  {"profile", request.profile}, {"plots", file.plots},
                      {"version", kVersion}};
  add_axes(experiment.cells, file.plots, experiment.facts);
  return experiment;
}

std::string key_of_cell(const json& config) {
  Sha256 hash;
  hash.add_string(kVersion);
  hash.add_string(hashed_part(config).dump());
  return hash.hex().substr(0, 32);
}

std::string update_key(const json& config) {
  json shared = hashed_part(config);
  shared.erase("attack");
  shared["metrics"] = {{"utility", config.at("metrics").at("utility")}};
  return shared.dump();
}

double cost_of(const json& config) {
  // A federation's training is nearly all of it, and done once for all that attack it.
  if (const std::int64_t rounds = config.at("federation").value("rounds", 0); rounds > 0)
    return 1e4 * static_cast<double>(rounds);
  const double size = config.at("run").at("size"), epochs = config.at("federation").at("epochs");
  const json& attack = config.at("attack");
  // Noise on every step takes about as long as the step.
  const double training = size * epochs * (config.at("defence").at("kind") == "noise-per-step" ? 2 : 1);
  const bool search = attack.at("kind") == "sentences";
  double reading = attack.value("method", "") == "best" ? (search ? 100 : 20) : (search ? 20 : 1);
  if (attack.at("kind") == "film") reading = 200;
  if (attack.at("kind") == "dlg" || attack.at("kind") == "tag")
    reading = 1000 * attack.at("restarts").get<double>();
  const double tokens = std::max(1.0, config.at("texts").at("length").get<double>() / 8) *
                        config.at("federation").at("users").get<double>();
  return tokens * (training + size * reading);
}

json value_of(const json& config, const std::string& name) {
  const std::size_t dot = name.find('.');
  const auto section = config.find(name.substr(0, dot));
  if (section == config.end()) return {};
  const auto found = section->find(name.substr(dot + 1));
  return found == section->end() ? json() : *found;
}

}  // namespace undertext
