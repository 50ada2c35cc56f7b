#include "report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/findings.h"
#include "report/labels.h"

namespace undertext {
namespace {

// Rows without a defence, grouped by `group`: does it protect by itself?
void add_undefended(const Results& results, const Labels& labels, const std::string& title,
                    const std::function<std::pair<std::int64_t, std::string>(const ResultRow&)>& group,
                    std::vector<Advice>& advice) {
  struct Range {
    std::string name;
    double low = 1, high = 0;
  };
  std::map<std::int64_t, Range> groups;
  for (const ResultRow& row : results.rows) {
    const bool counts = row.sentences() && !row.oracle && row.method == "best" &&
                        (row.scores.exact || row.scores.total_accuracy);
    if (!counts || !row.defence.none()) continue;
    const auto [key, name] = group(row);
    Range& range = groups[key];
    range.name = name;
    range.low = std::min(range.low, row.leak());
    range.high = std::max(range.high, row.leak());
  }
  if (groups.size() < 2) return;
  Advice entry{"", title, {}};
  LeakChange change;
  change.worst_after = 1;
  for (const auto& [key, range] : groups) {
    const std::string low = percent_text(range.low), high = percent_text(range.high);
    const std::string share = low == high ? low : fmt::format("{} to {}", low, high);
    entry.facts.emplace_back(range.name + ", no defence", share + " " + labels.read());
    change.worst_after = change.beyond_chance = std::min(change.worst_after, range.high);
    change.worst_before = std::max(change.worst_before, range.high);
  }
  entry.grade = change.grade();
  advice.push_back(std::move(entry));
}

// "noise per step, σ=1 (noise-per-step:sigma=1)".
std::string named(const DefenceEffect& effect, const Labels& labels) {
  const std::string label = labels.defence(effect.defence);
  return label == effect.defence.spec ? label : fmt::format("{} ({})", label, effect.defence.spec);
}

// Beyond, a promise rules nothing out.
constexpr double kLargestPromise = 20;

std::string guarantee_text(const DefenceEffect& effect) {
  if (!effect.epsilon) return "";
  if (*effect.epsilon > kLargestPromise)
    return fmt::format(", whose promise of ε={} is as good as none", epsilon_text(effect.epsilon));
  return fmt::format(", with a guarantee of ε={}{}", epsilon_text(effect.epsilon),
                     effect.delta ? fmt::format(" at δ={:.2g}", *effect.delta) : "");
}

// What is read: "61% of the messages word for word", "97% of the words (F1)".
std::string share_text(double leak, const std::string& attack, const Labels& labels) {
  return attack == "words" ? fmt::format("{} of the words (F1)", percent_text(leak))
                           : fmt::format("{} of the {}", percent_text(leak), labels.leaked_how());
}

const DefenceEffect* first_that(const std::vector<DefenceEffect>& effects,
                                const std::function<bool(const DefenceEffect&)>& test) {
  const auto found = std::ranges::find_if(effects, test);
  return found == effects.end() ? nullptr : &*found;
}

void add_words_sentence(const std::vector<DefenceEffect>& effects, const DefenceEffect* chosen,
                        const Labels& labels, std::vector<std::string>& sentences) {
  const auto stops = [](const DefenceEffect& e) {
    return e.words && e.words->protects() && e.read.protects();
  };
  if (chosen != nullptr && chosen->words) {
    if (chosen->words->protects()) {
      sentences.emplace_back("The words are then no better than guessed.");
      return;
    }
    sentences.push_back(fmt::format("Under it still {} can be read.",
                                    share_text(chosen->words->worst_after, "words", labels)));
  }
  if (const DefenceEffect* both = first_that(effects, stops))
    sentences.push_back(fmt::format("The cheapest that stops the words too is {}, at {}{}.",
                                    named(*both, labels), cost_text(*both), guarantee_text(*both)));
  else if (first_that(effects, [](const DefenceEffect& e) { return e.words.has_value(); }))
    sentences.emplace_back("None of them stops the words.");
}

// Names of the kinds of defence that the attacks knew nothing of.
std::string not_told(const std::vector<DefenceEffect>& effects) {
  std::vector<std::string> titles;
  for (const DefenceEffect& effect : effects)
    if (!effect.adaptive && std::ranges::find(titles, effect.defence.title) == titles.end())
      titles.push_back(effect.defence.title);
  return fmt::format("{}", fmt::join(titles, ", "));
}

ThreatVerdict verdict_on(const Results& results, const ReportedThreatModel& threat, const Labels& labels) {
  ThreatVerdict verdict{threat.id, {}};
  const std::string attack = main_attack(results, threat.id);
  const auto leak = undefended_leak(results, threat.id, attack);
  if (!leak) return verdict;
  std::string first = fmt::format("Without a defence {} reads {}", with_article(threat.name, false),
                                  share_text(*leak, attack, labels));
  if (const auto words = undefended_leak(results, threat.id, "words"); words && attack != "words")
    first += fmt::format(" and {}", share_text(*words, "words", labels));
  verdict.sentences.push_back(first + ".");

  const std::vector<DefenceEffect> effects = in_order_of_choice(defence_effects(results, threat.id));
  if (effects.empty()) {
    verdict.sentences.emplace_back("No defence was tried against it.");
    return verdict;
  }
  const DefenceEffect& chosen = effects.front();
  if (!chosen.read.protects()) {
    const auto best =
        std::ranges::min_element(effects, {}, [](const DefenceEffect& e) { return e.read.worst_after; });
    verdict.sentences.push_back(fmt::format(
        "None of the {} tried stops it: under the strongest, {}, it still reads {}, at {}.",
        effects.size() == 1 ? "defences" : fmt::format("{} defences", effects.size()), named(*best, labels),
        share_text(best->read.worst_after, attack, labels), cost_text(*best)));
  } else {
    verdict.sentences.push_back(fmt::format("The cheapest defence tried that stops it{} is {}, at {}{}.",
                                            chosen.adaptive ? "" : ", as long as the attack ignores it,",
                                            named(chosen, labels), cost_text(chosen),
                                            guarantee_text(chosen)));
    if (attack != "words") add_words_sentence(effects, &chosen, labels, verdict.sentences);
    const DefenceEffect* promised = first_that(effects, [](const DefenceEffect& e) {
      return e.read.protects() && e.epsilon && *e.epsilon <= kLargestPromise;
    });
    if (!chosen.epsilon && promised != nullptr)
      verdict.sentences.push_back(fmt::format("The cheapest with a guarantee is {}, at {}{}.",
                                              named(*promised, labels), cost_text(*promised),
                                              guarantee_text(*promised)));
  }
  if (const std::string kinds = not_told(effects); !kinds.empty())
    verdict.sentences.push_back(fmt::format(
        "The attacks knew nothing of these defences and went on as if there were none: {}. One that adapts "
        "may read more.",
        kinds));
  return verdict;
}

}  // namespace

std::optional<DefenceEffect> cheapest_protection(const Results& results, const std::string& threat_model) {
  const std::vector<DefenceEffect> effects = in_order_of_choice(defence_effects(results, threat_model));
  if (effects.empty() || !effects.front().read.protects()) return std::nullopt;
  return effects.front();
}

std::string rise_text(const DefenceEffect& effect) {
  const auto cost = effect.cost();
  if (!cost) return "–";
  if (*cost >= 10) return fmt::format("×{:.0f}", *cost + 1);
  if (std::abs(*cost) < 0.005) return "±0%";
  return fmt::format("{}{:.0f}%", *cost < 0 ? "−" : "+", std::abs(*cost) * 100);
}

std::string cost_text(const DefenceEffect& effect) {
  const auto cost = effect.cost();
  if (!cost) return "a cost in utility that could not be measured";
  const std::string range = fmt::format("{} to {}", perplexity_text(*effect.utility_before),
                                        perplexity_text(*effect.utility_after));
  if (std::abs(*cost) < 0.005) return fmt::format("perplexity unchanged ({})", range);
  if (*cost >= 10) return fmt::format("perplexity {:.0f} times as high ({})", *cost + 1, range);
  return fmt::format("perplexity {} ({})", rise_text(effect), range);
}

std::string epsilon_text(const std::optional<double>& epsilon) {
  if (!epsilon) return "–";
  if (*epsilon >= 1e5) return fmt::format("{:.1e}", *epsilon);
  return fmt::format("{:.{}f}", *epsilon, *epsilon < 10 ? 2 : *epsilon < 100 ? 1 : 0);
}

std::vector<ThreatVerdict> verdicts_of(const Results& results) {
  const Labels labels(results);
  std::vector<ThreatVerdict> verdicts;
  for (const ReportedThreatModel& threat : results.threat_models)
    if (ThreatVerdict verdict = verdict_on(results, threat, labels); !verdict.sentences.empty())
      verdicts.push_back(std::move(verdict));
  return verdicts;
}

std::string headline_advice(const Results& results) {
  const Labels labels(results);
  const std::string threat = strongest_row(results).threat_model;
  if (const auto cheapest = cheapest_protection(results, threat))
    return fmt::format("Of the defences tried, the cheapest that protects is {}: at most {} of the {}, {}.",
                       labels.defence(cheapest->defence), percent_text(cheapest->read.worst_after),
                       labels.leaked(), cost_text(*cheapest));
  const auto effects = defence_effects(results, threat);
  if (effects.empty()) return "No defence was tried on these clients.";
  const auto best =
      std::ranges::min_element(effects, {}, [](const DefenceEffect& e) { return e.read.worst_after; });
  return fmt::format("None of the defences tried protects: under the strongest, {}, still {} of the {}, {}.",
                     labels.defence(best->defence), percent_text(best->read.worst_after), labels.leaked(),
                     cost_text(*best));
}

std::vector<Advice> undefended_advice(const Results& results) {
  const Labels labels(results);
  std::vector<Advice> advice;
  add_undefended(
      results, labels, fmt::format("More {}s in one update", labels.one()),
      [&](const ResultRow& row) { return std::pair(row.messages, labels.client(row)); }, advice);
  add_undefended(
      results, labels, "More local training",
      [&](const ResultRow& row) {
        const bool one_step = row.protocol.name == "FedSGD";
        return one_step ? std::pair(std::int64_t{0}, std::string("FedSGD"))
                        : std::pair(row.protocol.epochs,
                                    fmt::format("{} {}", row.protocol.epochs,
                                                row.protocol.epochs == 1 ? "epoch" : "epochs"));
      },
      advice);
  return advice;
}

}  // namespace undertext
