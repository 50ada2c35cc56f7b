#include "audit/keyboard_audit.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/attacked_update.h"
#include "audit/audit_texts.h"
#include "audit/result_row.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "defences/noise.h"
#include "text/corpus.h"

namespace undertext {
namespace {

using nlohmann::json;

json model_facts(const AuditOptions& options, const ModelFolder& folder, std::optional<double> held_out) {
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : folder.model->parameters()) parameters += tensor.numel();
  json facts = {{"kind", "cifg-lstm"},
                {"source", options.model ? options.model->string() : "built-in"},
                {"parameters", parameters},
                {"vocabulary", folder.tokenizer->size()},
                {"perplexity", nullptr}};
  // load_model has checked the type.
  if (options.model) facts["kind"] = json::parse(read_file(*options.model / "config.json")).at("model_type");
  if (held_out) facts["perplexity"] = *held_out;
  return facts;
}

// One local training: a client, a protocol, a strength of noise (0: none).
struct Case {
  const std::vector<Sentence>* messages;
  const AuditedProtocol* protocol;
  double sigma;
};

std::vector<Case> cases_of(const AuditOptions& options, const AuditTexts& texts) {
  std::vector<Case> cases;
  for (const auto& messages : texts.clients) {
    for (const AuditedProtocol& protocol : options.protocols) {
      // One epoch in one batch is FedSGD by another name.
      const bool one_step =
          protocol.epochs == 1 && protocol.batch >= static_cast<std::int64_t>(messages.size());
      if (protocol.batch != 0 && one_step) continue;
      cases.push_back({&messages, &protocol, 0});
      for (const double sigma : protocol.noise) cases.push_back({&messages, &protocol, sigma});
    }
  }
  return cases;
}

class Audit {
 public:
  Audit(const AuditOptions& options, const ModelFolder& folder, const AuditTexts& texts)
      : options_(options), folder_(folder), texts_(texts), before_(utility_of(*folder.model)) {}

  std::optional<double> perplexity_before() const { return before_; }

  void attack(const Case& c, json& rows, json& samples, const std::function<void()>& done) const {
    LocalTraining training;
    training.epochs = c.protocol->epochs;
    training.batch = c.protocol->batch;
    training.learning_rate = options_.learning_rate;
    std::vector<std::shared_ptr<const ClientDefence>> defences;
    if (c.sigma > 0) {
      // By name, so that a case is the same whichever others are tried beside it.
      const std::string name = fmt::format("{} {} {} {} {}", c.messages->size(), c.protocol->name,
                                           training.epochs, training.batch, c.sigma);
      defences.push_back(
          std::make_shared<NoisePerStep>(c.sigma, Seed(options_.seed).derive("noise").derive(name)));
    }
    const Observation observation =
        observe(folder_.model, folder_.hash,
                train_locally(*folder_.model, *c.messages, training, folder_.hash, defences));
    add_rows({.observation = observation,
              .tokenizer = *folder_.tokenizer,
              .truth = *c.messages,
              .protocol = c.protocol->name,
              .training = training,
              .sigma = c.sigma,
              .perplexity_before = before_,
              .perplexity_after = utility_of(*observation.after)},
             rows, samples, done);
  }

 private:
  std::optional<double> utility_of(const LanguageModel& model) const {
    if (texts_.held_out.empty()) return std::nullopt;
    return perplexity(model, texts_.held_out);
  }

  const AuditOptions& options_;
  const ModelFolder& folder_;
  const AuditTexts& texts_;
  std::optional<double> before_;
};

AuditTexts texts_of(const AuditOptions& options, const Tokenizer& tokenizer) {
  if (options.ids)
    return shared_out(read_ids(*options.ids, tokenizer.size()), *options.ids, options.sizes, options.held_out,
                      options.note);
  if (options.texts)
    return shared_out(read_sentences(*options.texts, tokenizer), *options.texts, options.sizes,
                      options.held_out, options.note);
  return generated_texts(tokenizer, options.sizes, options.held_out, options.seed);
}

}  // namespace

json run_keyboard_audit(const AuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const ModelFolder folder = options.model ? load_model_folder(*options.model)
                                           : public_model(options.recipe, options.cache, options.note);
  if (folder.model->start_token() == kNoToken)
    fail(
        "{}: a {}, expected a cifg-lstm: the keyboard's audit reads sentences, which no other model gives "
        "yet",
        options.model->string(), folder.model->kind());
  const AuditTexts texts = texts_of(options, *folder.tokenizer);
  const std::vector<Case> cases = cases_of(options, texts);
  std::int64_t total = 0;
  for (const Case& c : cases)
    total += rows_of(static_cast<std::int64_t>(c.messages->size()), c.sigma, c.protocol->epochs);

  const Audit audit(options, folder, texts);
  json rows = json::array(), samples = json::array();
  {
    Progress progress("attacking", total, "attacks");
    for (const Case& c : cases) {
      const std::string note =
          fmt::format("{} messages, {} E={}", c.messages->size(), c.protocol->name, c.protocol->epochs);
      audit.attack(c, rows, samples, [&] { progress.advance(1, note); });
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {{"format", "undertext-results"},
          {"format_version", 1},
          {"version", kVersion},
          {"command", options.command},
          {"preset", "keyboard"},
          {"seed", options.seed},
          {"seconds", seconds},
          {"model", model_facts(options, folder, audit.perplexity_before())},
          {"threat_models", json::array({curious_server_json()})},
          {"rows", std::move(rows)},
          {"samples", std::move(samples)}};
}

}  // namespace undertext
