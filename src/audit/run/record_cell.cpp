#include "audit/run/record_cell.h"

#include <algorithm>
#include <numeric>

#include "attacks/records/observed_rounds.h"
#include "audit/experiment/freeze.h"
#include "audit/record_results.h"
#include "base/error.h"
#include "base/sha256.h"

namespace undertext {
namespace {

using nlohmann::json;

FederationObservation observed(const json& config, const FederationObservation& all) {
  const json& attack = config.at("attack");
  const Seed seed = Seed(config.at("run").at("seed").get<std::uint64_t>());
  const std::int64_t until = attack.at("until");
  if (until > all.rounds)
    fail("attack.until is {}, expected at most the {} rounds that the federation had", until, all.rounds);
  FederationObservation seen = rounds_of(all, 0, until == 0 ? all.rounds : until);
  if (attack.at("permuted") == true) seen = permuted(seen, seed.derive("permuted"));
  if (const double share = attack.at("unknown"); share > 0)
    seen = with_unknown(seen, share, seed.derive("unknown"));
  return seen;
}

// Mean correlation of the true records, as far as they are candidates, with their owners.
void add_means(const RecordRecovery& recovery, const PlantedTexts& truth, json& metrics) {
  std::vector<double> own, confidence;
  for (const VictimRecords& victim : recovery.victims) {
    const std::string& text = truth.texts.at(static_cast<std::size_t>(victim.client)).text;
    const auto found = std::ranges::find(victim.candidates, text, &RecoveredRecord::text);
    if (found != victim.candidates.end()) own.push_back(found->correlation);
    if (!victim.candidates.empty() && victim.candidates.front().confidence)
      confidence.push_back(*victim.candidates.front().confidence);
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  if (!own.empty()) metrics["correlation"] = mean(own);
  if (!confidence.empty()) metrics["confidence"] = mean(confidence);
}

}  // namespace

bool attacks_federation(const json& config) {
  return config.at("federation").value("rounds", 0) > 0;
}

json RecordCells::result_of(const json& config) {
  const json &attack = config.at("attack"), &places = config.at("places");
  std::string key = sha256_of(update_key(config));
  if (key != key_) {
    last_.reset();  // before the next is made: never two at once
    const json& texts = config.at("texts");
    for (const char* place : {"texts", "held_out"})
      if (places.contains(place) &&
          sources_.texts(places.at(place).get<std::string>())->hash !=
              texts.at(place == std::string_view("texts") ? "hash" : "held_out_hash"))
        fail("{}: not the text that the experiment was frozen with", places.at(place).get<std::string>());
    last_ = std::make_unique<const KeptFederation>(
        kept_federation(places.at("cell"), places.at("file").get<std::string>(), key, sources_));
    key_ = std::move(key);
  }
  RecordAttack chosen;
  chosen.method = record_method_named(attack.at("ranked_by"));
  chosen.candidates = attack.at("candidates");
  chosen.formula = record_formula_named(attack.value("formula", "paper"));
  if (chosen.method == RecordMethod::watermark)
    for (const PlantedText& mark : last_->watermarks.texts)
      chosen.watermarks.push_back({mark.client, mark.text});
  const FederationObservation seen = observed(config, last_->observation);
  const RecordRecovery recovery = recover_records(seen, RecordPattern::parse(last_->records.pattern), chosen);
  json metrics = score_recovery(recovery, last_->records);
  metrics.erase("victims");
  for (auto it = metrics.begin(); it != metrics.end();)
    it = it->is_null() ? metrics.erase(it) : std::next(it);
  add_means(recovery, last_->records, metrics);
  metrics["bits_per_character"] = bits_per_character(*seen.model(seen.rounds), last_->test);
  if (const auto promised = last_->promise(seen.rounds)) metrics["epsilon"] = promised->claim.epsilon;
  return {{"metrics", std::move(metrics)}, {"sample", record_pairs(recovery, last_->records)}};
}

}  // namespace undertext
