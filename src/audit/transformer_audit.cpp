#include "audit/transformer_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "attacks/decepticons/corrupt.h"
#include "audit/defence_strengths.h"
#include "audit/defended_training.h"
#include "audit/defended_update.h"
#include "audit/guess.h"
#include "audit/sequence_rows.h"
#include "audit/told_defence.h"
#include "audit/trials.h"
#include "base/error.h"
#include "text/corpus.h"
#include "text/messages.h"
#include "text/sequences.h"

namespace undertext {
namespace {

using nlohmann::json;

constexpr std::int64_t kOthers = 256;   // sequences
constexpr std::int64_t kFewRounds = 2;  // of large models

struct Client {
  std::vector<Sentence> sequences;
};

struct Texts {
  std::vector<Client> clients;
  std::vector<Sentence> held_out;  // no client's; may be empty
  std::vector<Sentence> others;    // sequences of the federation that the clients belong to; may be empty
};

Texts generated_texts(const TransformerAuditOptions& options, const Tokenizer& tokenizer) {
  const Seed root = Seed(options.seed).derive("private");
  Texts texts;
  const auto sequences = [&](Seed seed, std::int64_t size) {
    std::vector<Sentence> messages;
    std::int64_t tokens = 0;
    for (std::int64_t i = 0; tokens < size * options.length; ++i) {
      messages.push_back(tokenizer.encode(generate_message(seed, i).text));
      tokens += std::ssize(messages.back());
    }
    return first_sequences(messages, options.length, size, "the built-in messages");
  };
  for (const std::int64_t size : options.sizes)
    texts.clients.push_back(
        {sequences(root.derive("client").derive(static_cast<std::uint64_t>(size)), size)});
  texts.others = sequences(root.derive("others"), kOthers);
  for (const std::string& message : generate_messages(root.derive("held out"), options.held_out))
    texts.held_out.push_back(tokenizer.encode(message));
  return texts;
}

// The user's: clients are consecutive slices of the stream, what follows them is held out.
Texts given_texts(const TransformerAuditOptions& options, const Tokenizer& tokenizer) {
  const std::filesystem::path file = options.ids ? *options.ids : *options.texts;
  const std::vector<Sentence> all =
      cut_into_sequences(options.ids ? read_ids(file, tokenizer.size()) : read_sentences(file, tokenizer),
                         options.length, file.string());
  Texts texts;
  auto next = all.begin();
  for (const std::int64_t size : options.sizes) {
    if (size > all.end() - next) {
      options.note(fmt::format("{}: {} sequences of {} tokens are left; a client of {} is skipped",
                               file.string(), all.end() - next, options.length, size));
      continue;
    }
    texts.clients.push_back({{next, next + size}});
    next += size;
  }
  if (texts.clients.empty())
    fail("{}: {} sequences of {} tokens, expected at least {}", file.string(), all.size(), options.length,
         *std::ranges::min_element(options.sizes));
  const auto end = next + std::min<std::int64_t>(options.held_out, all.end() - next);
  texts.held_out.assign(next, end);
  texts.others.assign(end, all.end());
  if (texts.held_out.empty())
    options.note(fmt::format("{}: no sequence is left to measure the utility on", file.string()));
  return texts;
}

std::int64_t parameters_of(const LanguageModel& model) {
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : model.parameters()) parameters += tensor.numel();
  return parameters;
}

json malicious_server_json() {
  return {
      {"id", kMaliciousServer},
      {"name", "Malicious server"},
      {"sees", "the weights that it made up and one client's update"},
      {"does_not_see", "the client's sequences"},
      {"does", "sends out a state that makes gradients spell out texts, once; everything else is as agreed"}};
}

// A model of the same shape that knows nothing: what a defence costs shows where there is something to learn.
ModelFolder fresh_like(const ModelFolder& folder, std::uint64_t seed) {
  const auto& model = dynamic_cast<const Transformer&>(*folder.model);
  return {Transformer::random(model.config(), Seed(seed).derive("fresh model")), folder.tokenizer, ""};
}

class Audit {
 public:
  Audit(const TransformerAuditOptions& options, const ModelFolder& folder, const Texts& texts)
      : options_(options),
        folder_(folder),
        texts_(texts),
        fresh_(fresh_like(folder, options.seed)),
        film_(reads_sentences(dynamic_cast<const Transformer&>(*folder.model).config())),
        matching_(parameters_of(*folder.model) <= options.matching_parameters) {
    if (!texts.held_out.empty()) {
      shared_ = perplexity(*folder.model, texts.held_out);
      before_ = perplexity(*fresh_.model, texts.held_out);
    }
    const auto& model = dynamic_cast<const Transformer&>(*folder.model);
    for (const DecepticonDesign design : {DecepticonDesign::paper, DecepticonDesign::best})
      states_.push_back(corrupt(model, {.design = design, .length = options.length, .seed = options.seed}));
    if (!matching_)
      options.note(fmt::format("a model of {} numbers: DLG and TAG are not tried, expected {} at most",
                               parameters_of(*folder.model), options.matching_parameters));
  }

  // Of the shared model, on texts that no client has.
  std::optional<double> shared_perplexity() const { return shared_; }

  TrialRows run() {
    plan_trials();
    if (before_) measure_costs();
    TrialRows all = run_trials("attacking", trials_, [this](const Trial& trial, TrialRows& rows) {
      const Client& client = texts_.clients[trial.audited];
      curious(client, *trial.plan, rows);
      for (const CorruptedState& state : states_) malicious(client, *trial.plan, state, rows);
    });
    all.append(defences_.refused());
    return all;
  }

 private:
  // FILM follows sentences word by word, which a causal model predicts.
  static bool reads_sentences(const TransformerConfig& config) {
    return config.kind == TransformerKind::gpt2;
  }

  std::optional<std::string> obstacle_to(const DefencePlan& plan) const {
    const auto setting = users_of(plan) > 1 ? DefenceSetting::users : DefenceSetting::update;
    return plan.obstacle(setting, *folder_.model, folder_.tokenizer.get());
  }

  void plan_trials() {
    const std::vector<DefencePlan> plans =
        chosen_defences(options_.defences.value_or(options_.standard_defences), all_defences("transformer"));
    for (std::size_t c = 0; c < texts_.clients.size(); ++c) {
      trials_.push_back({c, defences_.add({})});
      const auto size = std::ssize(texts_.clients[c].sequences);
      const bool wanted = std::ranges::find(options_.defended_sizes, size) != options_.defended_sizes.end();
      if (options_.defences && !wanted && texts_.clients.size() > 1) continue;
      for (const DefencePlan& plan : plans)
        if (const DefencePlan* own = defences_.add(plan)) trials_.push_back({c, own});
    }
  }

  LocalTraining training() const {
    LocalTraining training = training_;
    training.learning_rate = options_.learning_rate;
    training.seed = Seed(options_.seed).derive("dropout");
    return training;
  }

  // Of each defence, after all clients of a federation have run it on an honest model.
  void measure_costs() {
    std::vector<Sentence> texts = texts_.others;
    for (const Client& client : texts_.clients)
      if (texts_.others.empty()) texts.insert(texts.end(), client.sequences.begin(), client.sequences.end());
    const auto wanted = static_cast<std::size_t>(options_.utility_clients * options_.utility_sequences);
    if (texts.size() > wanted) texts.resize(wanted);
    LocalTraining local = training();
    local.learning_rate = options_.utility_rate;
    const std::int64_t rounds = parameters_of(*folder_.model) <= options_.matching_parameters
                                    ? options_.utility_rounds
                                    : std::min<std::int64_t>(options_.utility_rounds, kFewRounds);
    costs_ =
        perplexities_under(defences_.possible(), fresh_, texts, texts_.held_out,
                           {rounds, options_.utility_clients, local, options_.seed, options_.utility_rate});
  }

  DefendedUpdate observed(const Client& client, const DefencePlan& plan, const ModelFolder& state,
                          bool dropout) const {
    LocalTraining own = training();
    own.dropout = dropout;
    // By name, so that a case is the same whichever others are tried beside it.
    const std::string name = fmt::format("{} {}", client.sequences.size(), plan.text());
    return defended_update(state, client.sequences, texts_.others, own, plan,
                           Seed(options_.seed).derive("noise").derive(name));
  }

  RowFacts facts_of(const Client& client, const DefencePlan& plan, const DefendedUpdate& made,
                    const char* attack, const std::string& method, const char* threat) const {
    RowFacts facts;
    facts.id = fmt::format("n{}-{}{}-{}-{}", client.sequences.size(),
                           threat == kCuriousServer ? "curious" : "malicious",
                           plan.none() ? "" : "-" + plan.text(), attack, method);
    facts.attack = attack;
    facts.method = method;
    facts.threat_model = threat;
    facts.messages = client.sequences.size();
    facts.training = training();
    facts.plan = plan;
    facts.promise = made.promise;
    facts.told = told_of(attack, method, plan, made.observation.update.protocol);
    if (facts.attack == "words") facts.chance = guessed(made.truth, texts_.held_out);
    facts.perplexity_before = before_;
    if (const auto cost = costs_.find(plan.text()); cost != costs_.end())
      facts.perplexity_after = cost->second;
    facts.training_seconds = made.seconds;
    return facts;
  }

  // The bag of words of both methods, of few sequences texts by FILM and, of the smallest client without a
  // defence, by matching gradients.
  void curious(const Client& client, const DefencePlan& plan, TrialRows& results) const {
    DefendedUpdate made;
    try {
      made = observed(client, plan, folder_, true);
    } catch (const UserError& error) {
      if (plan.none()) throw;
      results.add_impossible("every attack", kCuriousServer, plan, error.what());
      return;
    }
    if (made.promise)
      results.add_promise(plan,
                          fmt::format("one gradient of a client, {} sequences", client.sequences.size()),
                          *made.promise);
    for (const char* method : {"paper", "best"}) {
      WordRecovery recovery;
      const double seconds = seconds_of([&] {
        recovery = recover(WordAttack{.method = method, .tokens = std::ssize(made.truth) * options_.length},
                           made.observation, {});
      });
      add_word_row(facts_of(client, plan, made, "words", method, kCuriousServer), made.truth, recovery,
                   seconds, results);
    }
    if (film_) film(client, plan, made, results);
    const bool smallest = &client == &texts_.clients.front();
    if (!matching_ || !smallest || !plan.none()) return;
    for (const char* method : {"tag", "dlg"}) {
      const bool tag = std::string_view(method) == "tag";
      const MatchingAttack matching{.method = method,
                                    .length = options_.length,
                                    .count = std::ssize(client.sequences),
                                    .iterations = tag ? options_.matching_steps : options_.matching_steps / 4,
                                    .seed = options_.seed};
      SentenceRecovery recovery;
      const double seconds = seconds_of([&] { recovery = recover(matching, made.observation, {}); });
      add_sequence_row(facts_of(client, plan, made, "sentences", method, kCuriousServer), made.truth,
                       sentences_of(recovery), std::nullopt, seconds, *folder_.tokenizer, results);
    }
  }

  void film(const Client& client, const DefencePlan& plan, const DefendedUpdate& made,
            TrialRows& results) const {
    if (std::ssize(made.truth) > options_.film_sequences) {
      if (!plan.none())
        results.add_impossible("sentences film", kCuriousServer, plan,
                               fmt::format("FILM's search for {} sequences takes longer than an audit has, "
                                           "expected {} at most: attack film does it in its own time",
                                           made.truth.size(), options_.film_sequences));
      return;
    }
    FilmRecovery recovery;
    const double seconds = seconds_of([&] {
      try {
        recovery = recover(FilmAttack{.seed = options_.seed}, made.observation, *folder_.tokenizer, {});
      } catch (const UserError&) {
        if (plan.none()) throw;  // under a defence there may be nothing left to read
      }
    });
    add_sequence_row(facts_of(client, plan, made, "sentences", "film", kCuriousServer), made.truth,
                     sentences_of(recovery), recovery.certified, seconds, *folder_.tokenizer, results);
  }

  // Dropout is part of what the server sends, and off (decepticons, appendix E.3).
  void malicious(const Client& client, const DefencePlan& plan, const CorruptedState& state,
                 TrialRows& results) const {
    const char* const method = name_of(state.key.design);
    DefendedUpdate made;
    try {
      made = observed(client, plan, {state.model, folder_.tokenizer, state.key.state_hash}, false);
    } catch (const UserError& error) {
      if (plan.none()) throw;
      results.add_impossible("every attack", kMaliciousServer, plan, error.what());
      return;
    }
    RecoveredTokens tokens;
    const double seconds = seconds_of([&] {
      try {
        tokens = tokens_of(recover(DecepticonAttack{.method = method,
                                                    .sequences = std::ssize(made.truth),
                                                    .length = options_.length,
                                                    .seed = options_.seed},
                                   made.observation, state.key));
      } catch (const UserError&) {
        if (plan.none()) throw;  // under a defence there may be nothing left to read
      }
    });
    const bool certified =
        !tokens.ids.empty() && std::ranges::all_of(tokens.certified, [](const std::vector<bool>& sequence) {
          return std::ranges::all_of(sequence, [](bool token) { return token; });
        });
    add_sequence_row(facts_of(client, plan, made, "sentences", method, kMaliciousServer), made.truth,
                     tokens.ids, certified, seconds, *folder_.tokenizer, results);
  }

  const TransformerAuditOptions& options_;
  const ModelFolder& folder_;
  const Texts& texts_;
  const LocalTraining training_{
      .reduction = Reduction::mean, .train_embedding = true, .kind = UpdateKind::gradient};
  ModelFolder fresh_;
  std::optional<double> shared_, before_;  // perplexities: of the shared model and of the fresh one
  bool film_;
  bool matching_;
  std::vector<CorruptedState> states_;
  DefenceSet defences_{[this](const DefencePlan& plan) { return obstacle_to(plan); },
                       {kCuriousServer, kMaliciousServer}};
  std::vector<Trial> trials_;
  std::map<std::string, double> costs_;
};

json model_facts(const TransformerAuditOptions& options, const ModelFolder& folder,
                 std::optional<double> held_out) {
  return {{"kind", folder.model->kind()},
          {"source", options.model ? options.model->string() : "built-in"},
          {"parameters", parameters_of(*folder.model)},
          {"vocabulary", folder.tokenizer->size()},
          {"perplexity", held_out ? json(*held_out) : json()}};
}

}  // namespace

json run_transformer_audit(const TransformerAuditOptions& options) {
  TrialRows rows;
  json model;
  const double seconds = seconds_of([&] {
    const ModelFolder folder = options.model
                                   ? load_model_folder(*options.model)
                                   : public_transformer(options.recipe, options.cache, options.note);
    if (dynamic_cast<const Transformer*>(folder.model.get()) == nullptr)
      fail("{}: a {}, expected a gpt2, bert or transformer", options.model->string(), folder.model->kind());
    const Texts texts = options.texts || options.ids ? given_texts(options, *folder.tokenizer)
                                                     : generated_texts(options, *folder.tokenizer);
    Audit audit(options, folder, texts);
    model = model_facts(options, folder, audit.shared_perplexity());
    rows = audit.run();
  });
  return results_json({.preset = "transformer",
                       .command = options.command,
                       .seed = options.seed,
                       .seconds = seconds,
                       .model = std::move(model),
                       .threat_models = json::array({curious_server_json(), malicious_server_json()})},
                      std::move(rows));
}

}  // namespace undertext
