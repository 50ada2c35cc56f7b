#include "audit/keyboard_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/attacked_update.h"
#include "audit/audit_texts.h"
#include "audit/character_level.h"
#include "audit/defence_strengths.h"
#include "audit/defended_training.h"
#include "audit/defended_update.h"
#include "audit/guess.h"
#include "audit/result_row.h"
#include "audit/trials.h"
#include "base/error.h"
#include "base/files.h"
#include "models/cifg_lstm.h"
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

// One local training: a client and a protocol, under some defences.
struct Case {
  const std::vector<Sentence>* messages;
  const AuditedProtocol* protocol;
};

LocalTraining training_of(const AuditOptions& options, const AuditedProtocol& protocol) {
  LocalTraining training;
  training.epochs = protocol.epochs;
  training.batch = protocol.batch;
  training.learning_rate = options.learning_rate;
  return training;
}

// A model of the same shape that knows nothing. One that knows its texts already has nothing to lose by a
// defence: what a defence costs shows where there is something to learn.
ModelFolder fresh_like(const ModelFolder& folder, std::uint64_t seed) {
  const auto* model = dynamic_cast<const CifgLstm*>(folder.model.get());
  if (model == nullptr) return folder;
  return {CifgLstm::random(model->config(), Seed(seed).derive("fresh model")), folder.tokenizer, ""};
}

class Audit {
 public:
  Audit(const AuditOptions& options, const ModelFolder& folder, const AuditTexts& texts)
      : options_(options), folder_(folder), texts_(texts), fresh_(fresh_like(folder, options.seed)) {
    if (!texts.held_out.empty()) {
      shared_ = perplexity(*folder.model, texts.held_out);
      before_ = perplexity(*fresh_.model, texts.held_out);
    }
    for (const auto& messages : texts.clients)
      for (const AuditedProtocol& protocol : options.protocols) {
        // One epoch in one batch is FedSGD by another name.
        const bool one_step = protocol.epochs == 1 && protocol.batch >= std::ssize(messages);
        if (protocol.batch == 0 || !one_step) cases_.push_back({&messages, &protocol});
      }
    plan_trials();
    if (std::ranges::any_of(trials_, [&](const Trial& trial) { return of_letters(*trial.plan); }))
      letters_.emplace(options.recipe, options.cache, options.note, *folder.tokenizer);
  }

  // Of the shared model, on texts that no client has.
  std::optional<double> shared_perplexity() const { return shared_; }

  TrialRows run() {
    if (before_) measure_costs();
    TrialRows all = run_trials("attacking", trials_, [this](const Trial& trial, TrialRows& rows) {
      attack(cases_[trial.audited], *trial.plan, rows);
    });
    all.append(defences_.refused());
    return all;
  }

 private:
  // Another model in place of this one, which only we can make.
  bool of_letters(const DefencePlan& plan) const {
    return !options_.model && plan.specs().size() == 1 && plan.find("characters") != nullptr;
  }

  std::optional<std::string> obstacle_to(const DefencePlan& plan) const {
    if (of_letters(plan)) return std::nullopt;
    const auto setting = users_of(plan) > 1 ? DefenceSetting::users : DefenceSetting::update;
    if (auto why = plan.obstacle(setting, *folder_.model, folder_.tokenizer.get())) return why;
    if (plan.find("frozen-embedding") != nullptr)
      return "frozen-embedding: this protocol trains no embedding as it is, expected --preset transformer";
    return std::nullopt;
  }

  void plan_trials() {
    std::vector<DefencePlan> chosen;
    if (options_.defences) chosen = chosen_defences(*options_.defences, all_defences("keyboard"));
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      trials_.push_back({c, defences_.add({})});
      const Case& one = cases_[c];
      if (one.protocol->defences.empty()) continue;
      std::vector<DefencePlan> plans = chosen;
      if (!options_.defences)
        for (const std::string& spec : one.protocol->defences) plans.push_back(parse_plan(spec));
      else if (std::ranges::find(options_.defended_sizes, std::ssize(*one.messages)) ==
                   options_.defended_sizes.end() &&
               texts_.clients.size() > 1)
        plans.clear();
      for (const DefencePlan& plan : plans)
        if (const DefencePlan* own = defences_.add(plan)) trials_.push_back({c, own});
    }
  }

  // Of each defence, after all clients of a federation have run it.
  void measure_costs() {
    LocalTraining local = training_of(options_, {"FedAvg", 1, options_.utility_batch, {}});
    local.learning_rate = options_.utility_rate;
    const auto wanted = static_cast<std::size_t>(options_.utility_clients * options_.utility_messages);
    // Where the user's texts leave none for others, the audited clients are the federation.
    std::vector<Sentence> texts = texts_.others;
    for (const auto& messages : texts_.clients)
      if (texts_.others.empty()) texts.insert(texts.end(), messages.begin(), messages.end());
    if (texts.size() > wanted) texts.resize(wanted);
    const DefendedTraining federation{options_.utility_rounds, options_.utility_clients, local, options_.seed,
                                      options_.utility_rate / options_.learning_rate};
    std::vector<DefencePlan> plans = defences_.possible();
    std::erase_if(plans, [&](const DefencePlan& plan) { return of_letters(plan); });
    costs_ = perplexities_under(plans, fresh_, texts, texts_.held_out, federation);
    if (letters_)
      costs_["characters"] = letters_->per_word(
          perplexity_under({}, fresh_like(letters_->folder(), options_.seed), letters_->letters_of(texts),
                           letters_->letters_of(texts_.held_out), federation),
          texts_.held_out);
  }

  void attack(const Case& c, const DefencePlan& plan, TrialRows& rows) const {
    const bool letters = of_letters(plan);
    const ModelFolder& folder = letters ? letters_->folder() : folder_;
    const std::vector<Sentence> own = letters ? letters_->letters_of(*c.messages) : *c.messages;
    const LocalTraining training = training_of(options_, *c.protocol);
    // By name, so that a case is the same whichever others are tried beside it.
    const std::string name = fmt::format("{} {} {} {} {}", c.messages->size(), c.protocol->name,
                                         training.epochs, training.batch, plan.text());
    DefendedUpdate made;
    try {
      made = defended_update(folder, own, texts_.others, training, letters ? DefencePlan() : plan,
                             Seed(options_.seed).derive("noise").derive(name));
    } catch (const UserError& error) {
      if (plan.none()) throw;
      rows.add_impossible("every attack", kCuriousServer, plan, error.what());
      return;
    }
    RowFacts facts;
    facts.messages = c.messages->size();
    facts.protocol = c.protocol->name;
    facts.training = training;
    facts.plan = plan;
    facts.promise = made.promise;
    facts.chance = guessed(letters ? *c.messages : made.truth, texts_.held_out);
    facts.perplexity_before = before_;
    if (const auto cost = costs_.find(plan.text()); cost != costs_.end())
      facts.perplexity_after = cost->second;
    facts.training_seconds = made.seconds;
    if (made.promise)
      rows.add_promise(plan,
                       fmt::format("one update of a client, {} messages, {} with {} epoch{}", facts.messages,
                                   facts.protocol, training.epochs, training.epochs == 1 ? "" : "s"),
                       *made.promise);
    if (letters) return letters_->add_rows(made.observation, *c.messages, facts, rows);
    add_rows({made.observation, *folder_.tokenizer, made.truth, facts}, rows);
  }

  const AuditOptions& options_;
  const ModelFolder& folder_;
  const AuditTexts& texts_;
  ModelFolder fresh_;
  std::optional<double> shared_, before_;  // perplexities: of the shared model and of the fresh one
  std::vector<Case> cases_;
  DefenceSet defences_{[this](const DefencePlan& plan) { return obstacle_to(plan); }, {kCuriousServer}};
  std::vector<Trial> trials_;
  std::optional<CharacterLevel> letters_;  // where it is among the defences
  std::map<std::string, double> costs_;
};

AuditTexts texts_of(const AuditOptions& options, const Tokenizer& tokenizer) {
  if (options.ids)
    return shared_out(read_ids(*options.ids, tokenizer.size()), *options.ids, options.sizes, options.held_out,
                      options.note);
  if (options.texts)
    return shared_out(read_sentences(*options.texts, tokenizer), *options.texts, options.sizes,
                      options.held_out, options.note);
  constexpr std::int64_t kOthers = 2'000;
  return generated_texts(tokenizer, options.sizes, options.held_out, kOthers, options.seed);
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
  Audit audit(options, folder, texts);
  TrialRows rows = audit.run();
  return results_json(
      {.preset = "keyboard",
       .command = options.command,
       .seed = options.seed,
       .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
       .model = model_facts(options, folder, audit.shared_perplexity()),
       .threat_models = json::array({curious_server_json()})},
      std::move(rows));
}

}  // namespace undertext
