#include "report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/labels.h"

namespace undertext {
namespace {

// Without sentences in the results there is no leak "word for word" to speak of.
bool counts(const ResultRow& row) {
  return row.sentences() && !row.oracle && row.method == "best" &&
         (row.scores.exact || row.scores.total_accuracy);
}

const ResultRow* undefended_twin(const Results& results, const ResultRow& row) {
  for (const ResultRow& other : results.rows) {
    if (other.defence.none() && other.attack == row.attack && other.method == row.method &&
        other.oracle == row.oracle && other.messages == row.messages && other.protocol == row.protocol &&
        other.threat_model == row.threat_model)
      return &other;
  }
  return nullptr;
}

struct Sums {
  double before = 0, after = 0;
  int count = 0;
  void add(const std::optional<double>& b, const std::optional<double>& a) {
    if (!b || !a) return;
    before += *b;
    after += *a;
    ++count;
  }
};

DefenceEffect effect_of(const Results& results, const Labels& labels, const ReportedDefence& defence) {
  DefenceEffect effect;
  effect.defence = defence;
  Sums leak, words, utility;
  for (const ResultRow& row : results.rows) {
    if (!(row.defence == defence) || row.oracle || row.method != "best") continue;
    const ResultRow* twin = undefended_twin(results, row);
    if (twin == nullptr) continue;
    if (row.attack == "words") words.add(twin->scores.f1, row.scores.f1);
    if (!counts(row) || !counts(*twin)) continue;
    leak.add(twin->leak(), row.leak());
    utility.add(twin->perplexity_after, row.perplexity_after);
    if (effect.worst_case.empty() || row.leak() > effect.worst_after) {
      effect.worst_before = twin->leak();
      effect.worst_after = row.leak();
      effect.worst_case = fmt::format("{}, {}", labels.client(row), labels.protocol(row.protocol));
    }
  }
  effect.cases = leak.count;
  if (leak.count > 0) {
    effect.mean_before = leak.before / leak.count;
    effect.mean_after = leak.after / leak.count;
  }
  if (words.count > 0) {
    effect.words_before = words.before / words.count;
    effect.words_after = words.after / words.count;
  }
  if (utility.count > 0) {
    effect.utility_before = utility.before / utility.count;
    effect.utility_after = utility.after / utility.count;
  }
  return effect;
}

std::string grade_of(double before, double after) {
  if (after <= kProtected) return "protects";
  return after <= 0.5 * before ? "weakens" : "does not help";
}

Advice advice_on(const DefenceEffect& effect, const Labels& labels) {
  Advice advice;
  advice.grade = grade_of(effect.worst_before, effect.worst_after);
  advice.title = labels.defence(effect.defence);
  advice.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(advice.title[0])));
  advice.facts.emplace_back(
      labels.read() + ", mean",
      fmt::format("{} → {} ({} {})", percent_text(effect.mean_before), percent_text(effect.mean_after),
                  effect.cases, effect.cases == 1 ? "update" : "updates"));
  advice.facts.emplace_back(labels.read() + ", at worst",
                            fmt::format("{} → {} ({})", percent_text(effect.worst_before),
                                        percent_text(effect.worst_after), effect.worst_case));
  if (effect.words_after) {
    advice.facts.emplace_back(
        "set of typed words, F1",
        fmt::format("{} → {}", fraction_text(*effect.words_before), fraction_text(*effect.words_after)));
  }
  advice.facts.emplace_back("cost", cost_text(effect));
  return advice;
}

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
    if (!counts(row) || !row.defence.none()) continue;
    const auto [key, name] = group(row);
    Range& range = groups[key];
    range.name = name;
    range.low = std::min(range.low, row.leak());
    range.high = std::max(range.high, row.leak());
  }
  if (groups.size() < 2) return;
  Advice entry{"", title, {}};
  double safest = 1, highest = 0;
  for (const auto& [key, range] : groups) {
    const std::string low = percent_text(range.low), high = percent_text(range.high);
    const std::string share = low == high ? low : fmt::format("{} to {}", low, high);
    entry.facts.emplace_back(range.name + ", no defence", share + " " + labels.read());
    safest = std::min(safest, range.high);
    highest = std::max(highest, range.high);
  }
  entry.grade = grade_of(highest, safest);
  advice.push_back(std::move(entry));
}

}  // namespace

std::optional<double> DefenceEffect::cost() const {
  if (!utility_before || !utility_after || *utility_before <= 0) return std::nullopt;
  return *utility_after / *utility_before - 1;
}

std::vector<DefenceEffect> defence_effects(const Results& results) {
  const Labels labels(results);
  std::vector<ReportedDefence> seen;
  std::vector<DefenceEffect> effects;
  for (const ResultRow& row : results.rows) {
    if (row.defence.none() || std::ranges::find(seen, row.defence) != seen.end()) continue;
    seen.push_back(row.defence);
    DefenceEffect effect = effect_of(results, labels, row.defence);
    if (effect.cases > 0) effects.push_back(std::move(effect));
  }
  return effects;
}

std::optional<DefenceEffect> cheapest_protection(const Results& results) {
  constexpr double kSame = 0.005;  // costs that look the same: the first, which is the weakest, will do
  std::optional<DefenceEffect> cheapest;
  const auto price = [](const DefenceEffect& effect) { return effect.cost().value_or(1e300); };
  for (const DefenceEffect& effect : defence_effects(results)) {
    if (effect.protects() && (!cheapest || price(effect) < price(*cheapest) - kSame)) cheapest = effect;
  }
  return cheapest;
}

std::string cost_text(const DefenceEffect& effect) {
  const auto cost = effect.cost();
  if (!cost) return "utility not measured";
  const std::string range = fmt::format("{} to {}", perplexity_text(*effect.utility_before),
                                        perplexity_text(*effect.utility_after));
  if (std::abs(*cost) < 0.005) return fmt::format("perplexity unchanged ({})", range);
  if (*cost >= 10) return fmt::format("perplexity {:.0f} times as high ({})", *cost + 1, range);
  return fmt::format("perplexity {}{:.0f}% ({})", *cost < 0 ? "−" : "+", std::abs(*cost) * 100, range);
}

std::string headline_advice(const Results& results) {
  const Labels labels(results);
  if (const auto cheapest = cheapest_protection(results))
    return fmt::format("Of the defences tried, the cheapest that protects is {}: at most {} of the {}, {}.",
                       labels.defence(cheapest->defence), percent_text(cheapest->worst_after),
                       labels.leaked(), cost_text(*cheapest));
  const auto effects = defence_effects(results);
  if (effects.empty()) return "No defence was tried on these clients.";
  const auto best = std::ranges::min_element(effects, {}, &DefenceEffect::worst_after);
  return fmt::format("None of the defences tried protects: under the strongest, {}, still {} of the {}, {}.",
                     labels.defence(best->defence), percent_text(best->worst_after), labels.leaked(),
                     cost_text(*best));
}

std::vector<Advice> advice_of(const Results& results) {
  const Labels labels(results);
  std::vector<Advice> advice;
  for (const DefenceEffect& effect : defence_effects(results)) advice.push_back(advice_on(effect, labels));
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
