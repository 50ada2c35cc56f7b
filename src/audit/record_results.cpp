#include "audit/record_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace undertext {

using nlohmann::json;

RecordMethod record_method_named(const std::string& name) {
  if (name == "baseline") return RecordMethod::baseline;
  if (name == "eavesdrop") return RecordMethod::eavesdrop;
  if (name == "watermark") return RecordMethod::watermark;
  UNDERTEXT_CHECK(name == "best");
  return RecordMethod::best;
}

RecordFormula record_formula_named(const std::string& name) {
  if (name == "paper") return RecordFormula::paper;
  UNDERTEXT_CHECK(name == "wide");
  return RecordFormula::wide;
}

json record_pairs(const RecordRecovery& recovery, const PlantedTexts& truth) {
  json pairs = json::array();
  for (const VictimRecords& victim : recovery.victims) {
    const std::string& own = truth.texts.at(static_cast<std::size_t>(victim.client)).text;
    json pair = {{"truth", own}, {"recovered", nullptr}, {"exact", false}, {"ratio", 0}};
    if (!victim.candidates.empty()) {
      const std::string& first = victim.candidates.front().text;
      pair["recovered"] = first;
      pair["exact"] = first == own;
      pair["ratio"] = 100 * (1 - static_cast<double>(character_distance(first, own)) /
                                     static_cast<double>(std::max(first.size(), own.size())));
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

RecordScores score_recovery(const RecordRecovery& recovery, const PlantedTexts& truth) {
  std::vector<VictimGuess> guesses;
  for (const VictimRecords& victim : recovery.victims) {
    const auto own = std::ranges::find(truth.texts, victim.client, &PlantedText::client);
    if (own == truth.texts.end()) fail("there is no true record of client {}", victim.client);
    VictimGuess& guess = guesses.emplace_back();
    guess.truth = own->text;
    for (const RecoveredRecord& record : victim.candidates) {
      guess.ranked.push_back(record.text);
      if (record.text == guess.truth) guess.owner_right = record.owner == victim.client;
    }
  }
  return score_records(guesses);
}

}  // namespace undertext
