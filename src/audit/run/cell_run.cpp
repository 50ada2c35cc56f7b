#include "audit/run/cell_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <set>

#include "attacks/words.h"
#include "audit/chosen_attack.h"
#include "audit/experiment/cell_texts.h"
#include "audit/experiment/freeze.h"
#include "audit/message_pairs.h"
#include "audit/version.h"
#include "base/error.h"
#include "base/memory.h"
#include "defences/noise.h"
#include "federated/local_training.h"
#include "metrics/rouge.h"
#include "metrics/sentence_scores.h"
#include "metrics/word_scores.h"

namespace undertext {
namespace {

using nlohmann::json;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

LocalTraining training_of(const json& config) {
  const json& federation = config.at("federation");
  LocalTraining training;
  training.epochs = federation.at("epochs");
  training.batch = federation.at("batch");
  training.learning_rate = federation.at("learning_rate");
  training.reduction = federation.at("reduction") == "sum" ? Reduction::sum : Reduction::mean;
  training.train_embedding = federation.at("train") == "all";
  training.zero_output_bias = federation.at("zero_output_bias");
  training.kind = federation.at("sends") == "weights" ? UpdateKind::weights
                  : federation.at("sends") == "delta" ? UpdateKind::delta
                                                      : UpdateKind::gradient;
  training.dropout = federation.at("dropout");
  training.seed = Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("dropout");
  return training;
}

std::vector<std::shared_ptr<const ClientDefence>> defences_of(const json& config) {
  const json &defence = config.at("defence"), &texts = config.at("texts");
  const double sigma = defence.value("sigma", 0.0);
  if (defence.at("kind") == "none" || sigma == 0) return {};
  // Clients draw noise of their own; strengths that are compared draw the same.
  const Seed seed = Seed(config.at("run").at("seed").get<std::uint64_t>())
                        .derive("noise")
                        .derive(texts.at("hash").get<std::string>())
                        .derive(texts.at("client").get<std::uint64_t>());
  if (defence.at("kind") == "noise-per-step") return {std::make_shared<NoisePerStep>(sigma, seed)};
  return {std::make_shared<NoiseOnResult>(sigma, seed)};
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
  double perplexity_before = std::nan(""), perplexity_after = std::nan("");
};

CellRunner::CellRunner(Sources& sources) : sources_(sources) {}
CellRunner::~CellRunner() = default;

const CellRunner::Attacked& CellRunner::attacked(const json& config) {
  std::string key = update_key(config);
  if (last_ && last_->key == key) return *last_;
  last_.reset();  // before the next is made: never two at once
  const std::string place = config.at("places").at("model");
  auto folder = sources_.model(place);
  if (sources_.model_hash(place) != config.at("model").at("hash"))
    fail("{}: not the model that the experiment was frozen with", place);
  CellTexts texts = texts_of(config, *folder->tokenizer, sources_);
  Observation observation = observe(
      folder->model, folder->hash,
      train_locally(*folder->model, texts.client, training_of(config), folder->hash, defences_of(config)));
  last_ = std::make_unique<Attacked>(
      Attacked{std::move(key), std::move(folder), std::move(texts), std::move(observation)});
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

json CellRunner::match_gradient(const json& config, const Attacked& update) {
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
  read["metrics"]["unmatched"] = recovery.residual;
  return read;
}

json CellRunner::scored(const SentenceRecovery& recovery, const Attacked& update) {
  const std::vector<Sentence>& truth = update.texts.client;
  const Tokenizer& tokenizer = *update.folder->tokenizer;
  const std::vector<Sentence> found = sentences_of(recovery);
  const SentenceScores scores = score_sentences(truth, found);
  json read = {{"metrics", scores}, {"sample", pairs_of(truth, found, scores, tokenizer)}};
  read["metrics"].update(json(score_rouge(texts_of(truth, tokenizer), texts_of(found, tokenizer))));
  return read;
}

json CellRunner::result_of(const json& config) {
  const Attacked& update = attacked(config);
  const json &attack = config.at("attack"), &kept = config.at("metrics");
  json result = attack.at("kind") == "words"       ? read_words(attack, update)
                : attack.at("kind") == "sentences" ? read_sentences(attack, update)
                                                   : match_gradient(config, update);
  add_number(result["metrics"], "perplexity_before", update.perplexity_before);
  add_number(result["metrics"], "perplexity_after", update.perplexity_after);
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
    sources_.model(cell.config.at("places").at("model"));
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
