#include "report/defence_section.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/advice.h"
#include "report/labels.h"

namespace undertext {
namespace {

using nlohmann::json;

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json change_json(const LeakChange& change) {
  return {{"mean", change.mean_after},       {"worst", change.worst_after}, {"before", change.worst_before},
          {"worst_case", change.worst_case}, {"cases", change.cases},       {"grade", change.grade()}};
}

json effect_json(const DefenceEffect& effect, const Labels& labels) {
  return {{"kind", effect.defence.kind},
          {"title", effect.defence.title},
          {"label", labels.defence(effect.defence)},
          {"spec", effect.defence.spec},
          {"read", change_json(effect.read)},
          {"words", effect.words ? change_json(*effect.words) : json(nullptr)},
          {"perplexity", or_null(effect.utility_after)},
          {"cost", or_null(effect.cost())},
          {"rise", rise_text(effect)},
          {"epsilon", or_null(effect.epsilon)},
          {"epsilon_text", epsilon_text(effect.epsilon)},
          {"delta", or_null(effect.delta)},
          {"slowdown", or_null(effect.slowdown)},
          {"adaptive", effect.adaptive},
          {"told", effect.told},
          {"best", json::object()}};
}

// Marks in marked[i].best[goal] the points of the frontier; returns whether that without a defence is one.
bool mark_frontier(const std::vector<DefenceEffect>& effects, const std::string& goal, double undefended,
                   json& marked) {
  std::vector<FrontierPoint> points = {{undefended, 0}};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const LeakChange* change = goal == "read"     ? &effects[i].read
                               : effects[i].words ? &*effects[i].words
                                                  : nullptr;
    if (change == nullptr || !effects[i].cost()) continue;
    points.push_back({change->worst_after, *effects[i].cost()});
    places.push_back(i);
  }
  const std::vector<bool> best = best_of_both(points);
  for (std::size_t i = 0; i < places.size(); ++i) marked[places[i]]["best"][goal] = best[i + 1];
  return best.front();
}

json threat_json(const Results& results, const ThreatVerdict& verdict, const Labels& labels) {
  const auto threat =
      std::ranges::find(results.threat_models, verdict.threat_model, &ReportedThreatModel::id);
  const std::string attack = main_attack(results, verdict.threat_model);
  // In the order of the rows, in which strengths follow one another; `choice` is the order of the table.
  const std::vector<DefenceEffect> effects = defence_effects(results, verdict.threat_model);
  json listed = json::array();
  for (const DefenceEffect& effect : effects) listed.push_back(effect_json(effect, labels));
  const auto read = undefended_leak(results, verdict.threat_model, attack);
  const auto words =
      attack == "words" ? std::nullopt : undefended_leak(results, verdict.threat_model, "words");
  json best = {{"read", mark_frontier(effects, "read", read.value_or(0), listed)}};
  if (words) best["words"] = mark_frontier(effects, "words", *words, listed);
  json choice = json::array();
  for (const DefenceEffect& effect : in_order_of_choice(effects))
    choice.push_back(std::ranges::find(effects, effect.defence, &DefenceEffect::defence) - effects.begin());
  return {{"id", verdict.threat_model},
          {"name", threat->name},
          {"sentences", verdict.sentences},
          {"read_label", attack == "words" ? "words (F1)" : labels.leaked_how()},
          {"undefended", {{"read", or_null(read)}, {"words", or_null(words)}, {"best", best}}},
          {"perplexity_before", effects.empty() ? json(nullptr) : or_null(effects.front().utility_before)},
          {"effects", std::move(listed)},
          {"choice", std::move(choice)}};
}

}  // namespace

json defence_section(const Results& results) {
  const Labels labels(results);
  json threats = json::array(), impossible = json::array(), privacy = json::array();
  for (const ThreatVerdict& verdict : verdicts_of(results))
    threats.push_back(threat_json(results, verdict, labels));
  for (const ImpossibleCase& entry : results.impossible) {
    const auto threat =
        std::ranges::find(results.threat_models, entry.threat_model, &ReportedThreatModel::id);
    impossible.push_back({{"attack", entry.attack},
                          {"threat_model", threat->name},
                          {"title", entry.defence.title},
                          {"spec", entry.defence.spec},
                          {"why", entry.why}});
  }
  for (const PrivacyStatement& entry : results.privacy)
    privacy.push_back({{"spec", entry.spec}, {"statement", entry.statement}});
  return {{"threats", std::move(threats)},
          {"impossible", std::move(impossible)},
          {"privacy", std::move(privacy)}};
}

}  // namespace undertext
