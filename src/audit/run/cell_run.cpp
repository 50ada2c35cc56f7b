#include "audit/run/cell_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <numeric>
#include <set>

#include "attacks/words.h"
#include "audit/chosen_attack.h"
#include "audit/experiment/cell_texts.h"
#include "audit/experiment/freeze.h"
#include "audit/message_pairs.h"
#include "audit/run/cell_client.h"
#include "audit/run/cell_server.h"
#include "audit/run/cell_training.h"
#include "audit/run/record_cell.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/memory.h"
#include "metrics/film_scores.h"
#include "metrics/rouge.h"
#include "metrics/sentence_scores.h"
#include "metrics/sequence_scores.h"
#include "metrics/word_scores.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

void add_number(json& metrics, const char* name, double value) {
  if (std::isfinite(value)) metrics[name] = value;
}

json first_of(json list, std::size_t count) {
  if (list.size() > count) list.erase(list.begin() + static_cast<std::ptrdiff_t>(count), list.end());
  return list;
}

// The words whose output bias went the way of typed ones, furthest first: Table 1 and Figure 5b.
json word_changes(const Observation& observation, const Tokenizer& tokenizer, std::span<const Sentence> truth,
                  std::size_t count) {
  if (count == 0) return json::array();
  std::set<Token> typed;
  for (const Sentence& sentence : truth) typed.insert(sentence.begin(), sentence.end());
  json words = json::array();
  for (const RecoveredWord& word : recover_words_by_sign(observation).words) {
    if (words.size() == count) break;
    words.push_back({{"word", tokenizer.token(word.id)},
                     {"id", word.id},
                     {"score", word.score},
                     {"typed", typed.contains(word.id)}});
  }
  return words;
}

}  // namespace

struct CellRunner::Attacked {
  std::string key;
  std::shared_ptr<const ModelFolder> folder;
  CellTexts texts;
  Observation observation;
  std::optional<DecepticonKey> state_key;  // of a state that the server corrupted
  bool cut = false;                        // into sequences of one length
  double perplexity_before = std::nan(""), perplexity_after = std::nan("");
};

CellRunner::CellRunner(Sources& sources)
    : sources_(sources),
      server_(std::make_unique<CellServer>(sources)),
      records_(std::make_unique<RecordCells>(sources)) {}
CellRunner::~CellRunner() = default;

const CellRunner::Attacked& CellRunner::attacked(const json& config) {
  std::string key = update_key(config);
  if (last_ && last_->key == key) return *last_;
  last_.reset();  // before the next is made: never two at once
  const std::string place = config.at("places").at("model");
  auto folder = sources_.model(place);
  if (sources_.model_hash(place) != config.at("model").at("hash"))
    fail("{}: not the model that the experiment was frozen with", place);
  folder = trained_ = trained_model(config, std::move(folder), sources_);
  CellTexts texts = texts_of(config, *folder->tokenizer, sources_);
  const ServerState state = server_->state_of(config, *folder);
  Observation observation =
      observe(state.model, state.hash,
              client_update(config, *state.model, state.hash, *folder->tokenizer, texts.client));
  last_ = std::make_unique<Attacked>(Attacked{std::move(key), std::move(folder), std::move(texts),
                                              std::move(observation), state.key,
                                              config.at("texts").at("length") > 0});
  if (!last_->texts.held_out.empty()) {
    last_->perplexity_before = perplexity(*last_->observation.before, last_->texts.held_out);
    last_->perplexity_after = perplexity(*last_->observation.after, last_->texts.held_out);
  }
  return *last_;
}

json CellRunner::read_words(const json& attack, const Attacked& update) {
  const WordAttack chosen{attack.at("method"), attack.value("cutoff", "auto")};
  const WordRecovery recovery = recover(chosen, update.observation, update.texts.client);
  const Sentence found = ids_of(recovery);
  json metrics = score_words(update.texts.client, std::vector<Sentence>{found});
  std::vector<double> counts;
  for (const RecoveredWord& word : recovery.words) counts.push_back(word.count);
  metrics["with_counts"] = score_counts(update.texts.client, found, counts);
  return {{"metrics", std::move(metrics)}, {"sample", json::array()}};
}

json CellRunner::read_sentences(const json& attack, const Attacked& update) {
  SentenceAttack chosen{.method = attack.at("method"),
                        .cutoff = attack.value("cutoff", "auto"),
                        .length = attack.at("length"),
                        .count = attack.at("count")};
  if (const json scale = attack.value("scale", json()); scale.is_number()) chosen.scale = scale.get<double>();
  const SentenceRecovery recovery = recover(chosen, update.observation, update.texts.client);
  json read = scored(recovery, update);
  if (chosen.method == "best") read["metrics"]["certified"] = recovery.certified ? 1 : 0;
  return read;
}

json CellRunner::match_gradient(const json& config, const Attacked& update, const EntityFinder& entities) {
  const json& attack = config.at("attack");
  MatchingAttack chosen;
  chosen.method = attack.at("kind");
  chosen.labels = attack.at("labels");
  chosen.bag = attack.at("bag");
  chosen.length = attack.at("length");
  chosen.count = attack.at("count");
  chosen.iterations = attack.at("iterations");
  chosen.restarts = attack.at("restarts");
  chosen.alpha = attack.value("alpha", chosen.alpha);
  chosen.seed = config.at("run").at("seed");
  const SentenceRecovery recovery = recover(chosen, update.observation, update.texts.client);
  json read = scored(recovery, update);
  if (!update.cut) {
    // Beside those of film; what both name is the same.
    json metrics = film_scores(update.texts.client, sentences_of(recovery), *update.folder->tokenizer,
                               {.entities = entities});
    metrics.update(read["metrics"]);
    read["metrics"] = std::move(metrics);
  }
  read["metrics"]["unmatched"] = recovery.residual;
  return read;
}

json CellRunner::read_film(const json& config, const Attacked& update, const EntityFinder& entities) {
  const json& attack = config.at("attack");
  const std::vector<Sentence>& truth = update.texts.client;
  const Tokenizer& tokenizer = *update.folder->tokenizer;
  const FilmRecovery recovery = recover(FilmAttack{.method = attack.at("method"),
                                                   .bag = attack.at("bag_from"),
                                                   .reorder = attack.at("reorder"),
                                                   .beam = attack.at("beam"),
                                                   .sentences = attack.at("sentences"),
                                                   .as_code = attack.at("as_code"),
                                                   .ngram = attack.at("ngram"),
                                                   .reorder_steps = attack.at("reorder_steps"),
                                                   .beta = attack.at("beta"),
                                                   .seed = config.at("run").at("seed")},
                                        update.observation, tokenizer, truth);
  const std::vector<Sentence> found = sentences_of(recovery);
  json metrics = scores_of(recovery, truth, tokenizer, entities);
  metrics["certified"] = recovery.certified ? 1 : 0;
  add_number(metrics, "unmatched", recovery.residual);
  if (recovery.bag_confidence) add_number(metrics, "bag_confidence", *recovery.bag_confidence);
  if (const std::vector<double> confidence = confidence_of(recovery); !confidence.empty())
    metrics["confidence"] =
        std::accumulate(confidence.begin(), confidence.end(), 0.0) / static_cast<double>(confidence.size());
  return {{"metrics", std::move(metrics)},
          {"sample", pairs_of(truth, found, score_sentences(truth, found), tokenizer)}};
}

json CellRunner::read_sequences(const json& config, const Attacked& update) {
  if (!update.state_key)
    fail(
        "attack.kind is \"decepticon\", which reads gradients of a corrupted state; expected server.state "
        "paper or best");
  const json& attack = config.at("attack");
  DecepticonAttack chosen;
  chosen.method = attack.at("method");
  chosen.bag_cutoff = attack.value("bag_cutoff", chosen.bag_cutoff);
  chosen.seed = config.at("run").at("seed");
  if (attack.at("told")) {
    chosen.sequences = std::ssize(update.texts.client);
    chosen.length = config.at("texts").at("length");
  }
  const DecepticonRecovery recovery = recover(chosen, update.observation, *update.state_key);
  const RecoveredTokens tokens = tokens_of(recovery);
  return scored_sequences(tokens.ids, {tokens.confidence, tokens.certified}, update);
}

json CellRunner::scored_sequences(const std::vector<Sentence>& found, const TokenBeliefs& beliefs,
                                  const Attacked& update) {
  const SequenceScores scores = score_sequences(update.texts.client, found, beliefs);
  const json all = scores;
  json metrics = json::object();
  for (const auto& [name, value] : all.items())
    if (!value.is_null()) metrics[name] = value;
  return {{"metrics", std::move(metrics)},
          {"sample", pairs_of(update.texts.client, found, scores, *update.folder->tokenizer)}};
}

json CellRunner::scored(const SentenceRecovery& recovery, const Attacked& update) {
  const std::vector<Sentence>& truth = update.texts.client;
  const Tokenizer& tokenizer = *update.folder->tokenizer;
  const std::vector<Sentence> found = sentences_of(recovery);
  if (update.cut) return scored_sequences(found, {}, update);
  const SentenceScores scores = score_sentences(truth, found);
  json read = {{"metrics", scores}, {"sample", pairs_of(truth, found, scores, tokenizer)}};
  read["metrics"].update(json(score_rouge(texts_of(truth, tokenizer), texts_of(found, tokenizer))));
  return read;
}

EntityFinder CellRunner::entities_of(const json& config) {
  const json place = config.at("places").value("entities", json());
  if (place.is_null()) return {};
  const auto listed = sources_.entities(place.get<std::string>());
  if (listed->hash != config.at("metrics").at("entities_hash"))
    fail("{}: not the entities that the experiment was frozen with", place.get<std::string>());
  return listed->finder;
}

json CellRunner::result_of(const json& config) {
  const json &attack = config.at("attack"), &kept = config.at("metrics");
  if (attacks_federation(config)) {
    json read = records_->result_of(config);
    read["pairs"] = read["sample"].size();
    read["sample"] = first_of(std::move(read["sample"]), kept.at("sample"));
    read["words"] = json::array();
    return read;
  }
  const Attacked& update = attacked(config);
  json result = attack.at("kind") == "words"        ? read_words(attack, update)
                : attack.at("kind") == "sentences"  ? read_sentences(attack, update)
                : attack.at("kind") == "decepticon" ? read_sequences(config, update)
                : attack.at("kind") == "film"       ? read_film(config, update, entities_of(config))
                                                    : match_gradient(config, update, entities_of(config));
  add_number(result["metrics"], "perplexity_before", update.perplexity_before);
  add_number(result["metrics"], "perplexity_after", update.perplexity_after);
  if (const std::optional<double> epsilon = epsilon_of_cell(config))
    add_number(result["metrics"], "epsilon", *epsilon);
  result["pairs"] = result["sample"].size();
  result["sample"] = first_of(std::move(result["sample"]), kept.at("sample"));
  result["words"] =
      word_changes(update.observation, *update.folder->tokenizer, update.texts.client, kept.at("words"));
  return result;
}

CellOutcome CellRunner::run(const FrozenCell& cell) {
  CellOutcome outcome;
  outcome.key = cell.key;
  outcome.version = all_versions();
  outcome.host = host_name();
  auto start = std::chrono::steady_clock::now();
  try {
    // Read once, or trained once, for all cells: no part of this one's time.
    if (!attacks_federation(cell.config))
      trained_ = trained_model(cell.config, sources_.model(cell.config.at("places").at("model")), sources_);
    start = std::chrono::steady_clock::now();
    reset_peak_memory();
    outcome.result = result_of(cell.config);
  } catch (const std::bad_alloc&) {
    outcome.error = "not enough memory";
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  outcome.failed = !outcome.error.empty();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.peak_memory = peak_memory();
  return outcome;
}

}  // namespace undertext
