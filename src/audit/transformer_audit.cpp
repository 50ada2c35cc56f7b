#include "audit/transformer_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "attacks/decepticons/corrupt.h"
#include "audit/sequence_rows.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/progress.h"
#include "defences/clipping.h"
#include "defences/noise.h"
#include "text/corpus.h"
#include "text/messages.h"
#include "text/sequences.h"

namespace undertext {
namespace {

using nlohmann::json;

struct Client {
  std::vector<Sentence> sequences;
};

struct Texts {
  std::vector<Client> clients;
  std::vector<Sentence> held_out;  // no client's; may be empty
};

Texts generated_texts(const TransformerAuditOptions& options, const Tokenizer& tokenizer) {
  const Seed root = Seed(options.seed).derive("private");
  Texts texts;
  for (const std::int64_t size : options.sizes) {
    const Seed seed = root.derive("client").derive(static_cast<std::uint64_t>(size));
    std::vector<Sentence> messages;
    std::int64_t tokens = 0;
    for (std::int64_t i = 0; tokens < size * options.length; ++i) {
      messages.push_back(tokenizer.encode(generate_message(seed, i).text));
      tokens += std::ssize(messages.back());
    }
    texts.clients.push_back({first_sequences(messages, options.length, size, "the built-in messages")});
  }
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
  texts.held_out.assign(next, next + std::min<std::int64_t>(options.held_out, all.end() - next));
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

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Audit {
 public:
  Audit(const TransformerAuditOptions& options, const ModelFolder& folder, const Texts& texts)
      : options_(options),
        folder_(folder),
        texts_(texts),
        before_(utility_of(*folder.model)),
        film_(reads_sentences(dynamic_cast<const Transformer&>(*folder.model).config())),
        matching_(parameters_of(*folder.model) <= options.matching_parameters) {
    const auto& model = dynamic_cast<const Transformer&>(*folder.model);
    for (const DecepticonDesign design : {DecepticonDesign::paper, DecepticonDesign::best})
      states_.push_back(corrupt(model, {.design = design, .length = options.length, .seed = options.seed}));
    if (!matching_)
      options.note(fmt::format("a model of {} numbers: DLG and TAG are not tried, expected {} at most",
                               parameters_of(*folder.model), options.matching_parameters));
  }

  std::optional<double> perplexity_before() const { return before_; }

  std::int64_t rows() const {
    const auto small = std::ranges::count_if(texts_.clients, [&](const Client& c) { return filmed(c); });
    return (4 * std::ssize(texts_.clients) + small) * std::ssize(options_.defences) + (matching_ ? 2 : 0);
  }

  void attack(const Client& client, const AuditedDefence& defence, RowsSoFar& results,
              const std::function<void()>& done) const {
    const std::optional<double> after = curious(client, defence, results, done);
    for (const CorruptedState& state : states_) {
      malicious(client, defence, state, after, results);
      done();
    }
  }

 private:
  // FILM follows sentences word by word, which a causal model predicts.
  static bool reads_sentences(const TransformerConfig& config) {
    return config.kind == TransformerKind::gpt2;
  }
  bool filmed(const Client& client) const {
    return film_ && std::ssize(client.sequences) <= options_.film_sequences;
  }

  std::optional<double> utility_of(const LanguageModel& model) const {
    if (texts_.held_out.empty()) return std::nullopt;
    return perplexity(model, texts_.held_out);
  }

  Observation observed(const Client& client, const AuditedDefence& defence,
                       const std::shared_ptr<const LanguageModel>& model, const std::string& hash,
                       bool dropout) const {
    LocalTraining training = training_;
    training.learning_rate = options_.learning_rate;
    training.dropout = dropout;
    training.seed = Seed(options_.seed).derive("dropout");
    std::vector<std::shared_ptr<const ClientDefence>> defences;
    if (defence.clip > 0) defences.push_back(std::make_shared<Clipping>(defence.clip));
    // By name, so that a case is the same whichever others are tried beside it.
    const std::string name = fmt::format("{} {} {}", client.sequences.size(), defence.name, defence.sigma);
    if (defence.sigma > 0)
      defences.push_back(
          std::make_shared<NoiseOnResult>(defence.sigma, Seed(options_.seed).derive("noise").derive(name)));
    return observe(model, hash, train_locally(*model, client.sequences, training, hash, defences));
  }

  RowFacts facts_of(const Client& client, const AuditedDefence& defence, const char* attack,
                    const std::string& method, const char* threat, std::optional<double> after) const {
    RowFacts facts;
    facts.id = fmt::format("n{}-{}{}{}-{}-{}", client.sequences.size(),
                           threat == kCuriousServer ? "curious" : "malicious",
                           defence.clip > 0 ? fmt::format("-clip{}", defence.clip) : "",
                           defence.sigma > 0 ? fmt::format("-noise{}", defence.sigma) : "", attack, method);
    facts.attack = attack;
    facts.method = method;
    facts.threat_model = threat;
    facts.messages = client.sequences.size();
    facts.training = training_;
    facts.training.learning_rate = options_.learning_rate;
    facts.defence = defence.name;
    facts.sigma = defence.sigma;
    facts.perplexity_before = before_;
    facts.perplexity_after = after;
    return facts;
  }

  // The bag of words of both methods, of clients that are not large texts by FILM and, of the smallest
  // without a defence, texts by matching gradients. Returns the utility of a step with this update.
  std::optional<double> curious(const Client& client, const AuditedDefence& defence, RowsSoFar& results,
                                const std::function<void()>& done) const {
    const Observation observation = observed(client, defence, folder_.model, folder_.hash, true);
    const std::optional<double> after = utility_of(*observation.after);
    for (const char* method : {"paper", "best"}) {
      WordRecovery recovery;
      const double seconds = seconds_of([&] {
        recovery =
            recover(WordAttack{.method = method, .tokens = std::ssize(client.sequences) * options_.length},
                    observation, {});
      });
      add_word_row(facts_of(client, defence, "words", method, kCuriousServer, after), client.sequences,
                   recovery, seconds, results);
      done();
    }
    if (filmed(client)) {
      FilmRecovery recovery;
      const double seconds = seconds_of([&] {
        try {
          recovery = recover(FilmAttack{.seed = options_.seed}, observation, *folder_.tokenizer, {});
        } catch (const UserError&) {
          if (defence.name == "none") throw;  // under a defence there may be nothing left to read
        }
      });
      add_sequence_row(facts_of(client, defence, "sentences", "film", kCuriousServer, after),
                       client.sequences, sentences_of(recovery), recovery.certified, seconds,
                       *folder_.tokenizer, results);
      done();
    }
    const bool smallest = &client == &texts_.clients.front();
    if (!matching_ || !smallest || defence.name != "none") return after;
    for (const char* method : {"tag", "dlg"}) {
      const bool tag = std::string_view(method) == "tag";
      const MatchingAttack matching{.method = method,
                                    .length = options_.length,
                                    .count = std::ssize(client.sequences),
                                    .iterations = tag ? options_.matching_steps : options_.matching_steps / 4,
                                    .seed = options_.seed};
      SentenceRecovery recovery;
      const double seconds = seconds_of([&] { recovery = recover(matching, observation, {}); });
      add_sequence_row(facts_of(client, defence, "sentences", method, kCuriousServer, after),
                       client.sequences, sentences_of(recovery), std::nullopt, seconds, *folder_.tokenizer,
                       results);
      done();
    }
    return after;
  }

  // Dropout is part of what the server sends, and off (decepticons, appendix E.3).
  void malicious(const Client& client, const AuditedDefence& defence, const CorruptedState& state,
                 std::optional<double> after, RowsSoFar& results) const {
    const char* const method = name_of(state.key.design);
    const Observation observation = observed(client, defence, state.model, state.key.state_hash, false);
    RecoveredTokens tokens;
    const double seconds = seconds_of([&] {
      try {
        tokens = tokens_of(recover(DecepticonAttack{.method = method,
                                                    .sequences = std::ssize(client.sequences),
                                                    .length = options_.length,
                                                    .seed = options_.seed},
                                   observation, state.key));
      } catch (const UserError&) {
        if (defence.name == "none") throw;  // under a defence there may be nothing left to read
      }
    });
    const bool certified =
        !tokens.ids.empty() && std::ranges::all_of(tokens.certified, [](const std::vector<bool>& sequence) {
          return std::ranges::all_of(sequence, [](bool token) { return token; });
        });
    add_sequence_row(facts_of(client, defence, "sentences", method, kMaliciousServer, after),
                     client.sequences, tokens.ids, certified, seconds, *folder_.tokenizer, results);
  }

  const TransformerAuditOptions& options_;
  const ModelFolder& folder_;
  const Texts& texts_;
  const LocalTraining training_{
      .reduction = Reduction::mean, .train_embedding = true, .kind = UpdateKind::gradient};
  std::optional<double> before_;
  bool film_;
  bool matching_;
  std::vector<CorruptedState> states_;
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
  RowsSoFar results;
  json model;
  const double seconds = seconds_of([&] {
    const ModelFolder folder = options.model
                                   ? load_model_folder(*options.model)
                                   : public_transformer(options.recipe, options.cache, options.note);
    if (dynamic_cast<const Transformer*>(folder.model.get()) == nullptr)
      fail("{}: a {}, expected a gpt2, bert or transformer", options.model->string(), folder.model->kind());
    const Texts texts = options.texts || options.ids ? given_texts(options, *folder.tokenizer)
                                                     : generated_texts(options, *folder.tokenizer);
    const Audit audit(options, folder, texts);
    model = model_facts(options, folder, audit.perplexity_before());
    Progress progress("attacking", audit.rows(), "attacks");
    for (const Client& client : texts.clients)
      for (const AuditedDefence& defence : options.defences)
        audit.attack(client, defence, results, [&] {
          progress.advance(1, fmt::format("{} sequences, {}", client.sequences.size(), defence.name));
        });
  });
  return {{"format", "undertext-results"},
          {"format_version", 1},
          {"version", kVersion},
          {"command", options.command},
          {"preset", "transformer"},
          {"seed", options.seed},
          {"seconds", seconds},
          {"model", std::move(model)},
          {"threat_models", json::array({curious_server_json(), malicious_server_json()})},
          {"rows", std::move(results.rows)},
          {"samples", std::move(results.samples)}};
}

}  // namespace undertext
