#include "report/defence_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/labels.h"

namespace undertext {
namespace {

// What a row is about, but for the method and the defence.
bool same_case(const ResultRow& a, const ResultRow& b) {
  return a.threat_model == b.threat_model && a.attack == b.attack && a.messages == b.messages &&
         a.protocol == b.protocol;
}

const ReportedDefence kNone;

bool same_defence(const ReportedDefence& a, const ReportedDefence& b) {
  return a.none() ? b.none() : a == b;
}

bool measured(const ResultRow& row) {
  return !row.oracle && (row.sentences() ? row.scores.exact || row.scores.total_accuracy : row.scores.f1);
}

// Rows of one case under one defence: what the strongest method reads.
struct Case {
  const ResultRow* strongest = nullptr;
  std::vector<const ResultRow*> rows;
};

std::vector<Case> cases_of(const Results& results, const std::string& threat_model, const std::string& attack,
                           const ReportedDefence& defence) {
  std::vector<Case> cases;
  for (const ResultRow& row : results.rows) {
    if (row.threat_model != threat_model || row.attack != attack || !same_defence(row.defence, defence) ||
        !measured(row))
      continue;
    auto found = std::ranges::find_if(cases, [&](const Case& c) { return same_case(*c.strongest, row); });
    if (found == cases.end()) found = cases.insert(cases.end(), Case{&row, {}});
    if (row.leak() > found->strongest->leak()) found->strongest = &row;
    found->rows.push_back(&row);
  }
  return cases;
}

// A case with the defence and its twin without. A method that reads most without a defence but was not tried
// under it would make the defence look better than it is: such cases do not count.
struct Pair {
  const ResultRow *before, *after;
};

std::vector<Pair> pairs_of(const Results& results, const std::string& threat_model, const std::string& attack,
                           const ReportedDefence& defence) {
  const std::vector<Case> without = cases_of(results, threat_model, attack, kNone);
  std::vector<Pair> pairs;
  for (const Case& with : cases_of(results, threat_model, attack, defence)) {
    const auto twin = std::ranges::find_if(
        without, [&](const Case& c) { return same_case(*c.strongest, *with.strongest); });
    if (twin == without.end()) continue;
    const bool tried = std::ranges::any_of(
        with.rows, [&](const ResultRow* row) { return row->method == twin->strongest->method; });
    if (tried) pairs.push_back({twin->strongest, with.strongest});
  }
  return pairs;
}

LeakChange change_of(const std::vector<Pair>& pairs, const Labels& labels) {
  LeakChange change;
  for (const auto& [before, after] : pairs) {
    ++change.cases;
    change.mean_before += before->leak();
    change.mean_after += after->leak();
    change.beyond_chance = std::max(change.beyond_chance, after->leak() - after->chance.value_or(0));
    if (change.worst_case.empty() || after->leak() > change.worst_after) {
      change.worst_before = before->leak();
      change.worst_after = after->leak();
      change.worst_case = fmt::format("{}, {}", labels.client(*after), labels.protocol(after->protocol));
    }
  }
  if (change.cases > 0) {
    change.mean_before /= change.cases;
    change.mean_after /= change.cases;
  }
  return change;
}

struct Means {
  double before = 0, after = 0;
  int count = 0;
  void add(const std::optional<double>& b, const std::optional<double>& a) {
    if (!b || !a) return;
    before += *b;
    after += *a;
    ++count;
  }
};

void add_costs(const std::vector<Pair>& pairs, DefenceEffect& effect) {
  Means utility, time;
  bool guaranteed = true;
  for (const auto& [before, after] : pairs) {
    utility.add(before->perplexity_after, after->perplexity_after);
    time.add(before->training_seconds, after->training_seconds);
    guaranteed = guaranteed && after->epsilon.has_value();
    if (after->epsilon && (!effect.epsilon || *after->epsilon > *effect.epsilon)) {
      effect.epsilon = after->epsilon;
      effect.delta = after->delta;
    }
  }
  if (!guaranteed) effect.epsilon = effect.delta = std::nullopt;
  if (utility.count > 0) {
    effect.utility_before = utility.before / utility.count;
    effect.utility_after = utility.after / utility.count;
  }
  if (time.count > 0 && time.before > 0) effect.slowdown = time.after / time.before;
}

void add_told(const std::vector<Pair>& pairs, DefenceEffect& effect) {
  for (const auto& [before, after] : pairs) {
    effect.adaptive = effect.adaptive && after->told.has_value();
    const std::string told = after->told.value_or("");
    if (effect.told.find(told) == std::string::npos) effect.told += (effect.told.empty() ? "" : "; ") + told;
  }
}

DefenceEffect effect_of(const Results& results, const std::string& threat_model, const Labels& labels,
                        const ReportedDefence& defence) {
  DefenceEffect effect;
  effect.defence = defence;
  effect.threat_model = threat_model;
  const std::string attack = main_attack(results, threat_model);
  const std::vector<Pair> read = pairs_of(results, threat_model, attack, defence);
  effect.read = change_of(read, labels);
  add_costs(read, effect);
  add_told(read, effect);
  if (attack == "words") return effect;
  if (const std::vector<Pair> words = pairs_of(results, threat_model, "words", defence); !words.empty())
    effect.words = change_of(words, labels);
  return effect;
}

// What protects from an attack that does not know of it may not protect from one that does.
int rank_of(const DefenceEffect& effect) {
  const std::string grade = effect.read.grade();
  if (grade == "protects") return effect.adaptive ? 0 : 1;
  return grade == "weakens" ? 2 : 3;
}

}  // namespace

std::string LeakChange::grade() const {
  if (protects()) return "protects";
  return worst_after <= 0.5 * worst_before ? "weakens" : "does not help";
}

std::optional<double> DefenceEffect::cost() const {
  if (!utility_before || !utility_after || *utility_before <= 0) return std::nullopt;
  return *utility_after / *utility_before - 1;
}

std::string main_attack(const Results& results, const std::string& threat_model) {
  std::string attack;
  for (const ResultRow& row : results.rows)
    if (row.threat_model == threat_model && measured(row) && (attack.empty() || row.sentences()))
      attack = row.attack;
  return attack;
}

std::optional<double> undefended_leak(const Results& results, const std::string& threat_model,
                                      const std::string& attack) {
  std::optional<double> leak;
  for (const Case& c : cases_of(results, threat_model, attack, kNone))
    leak = std::max(leak.value_or(0), c.strongest->leak());
  return leak;
}

std::vector<DefenceEffect> defence_effects(const Results& results, const std::string& threat_model) {
  const Labels labels(results);
  std::vector<ReportedDefence> seen;
  std::vector<DefenceEffect> effects;
  for (const ResultRow& row : results.rows) {
    if (row.threat_model != threat_model || row.defence.none() ||
        std::ranges::find(seen, row.defence) != seen.end())
      continue;
    seen.push_back(row.defence);
    DefenceEffect effect = effect_of(results, threat_model, labels, row.defence);
    if (effect.read.cases > 0) effects.push_back(std::move(effect));
  }
  return effects;
}

std::vector<DefenceEffect> in_order_of_choice(std::vector<DefenceEffect> effects) {
  constexpr double kUnknownCost = 1e300;
  const auto key = [](const DefenceEffect& effect) {
    const double cost = effect.cost() ? std::round(*effect.cost() * 100) : kUnknownCost;  // in percent
    return std::tuple(rank_of(effect), cost, !effect.epsilon, effect.read.worst_after);
  };
  std::ranges::stable_sort(effects, {}, key);
  return effects;
}

std::vector<bool> best_of_both(const std::vector<FrontierPoint>& points) {
  // Differences that nobody could measure again are none.
  const auto leak = [](const FrontierPoint& point) { return std::llround(point.leak * 1000); };
  const auto cost = [](const FrontierPoint& point) { return std::llround(std::min(point.cost, 1e9) * 1000); };
  std::vector<bool> best(points.size(), true);
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (leak(points[j]) > leak(points[i]) || cost(points[j]) > cost(points[i])) continue;
      const bool same = leak(points[j]) == leak(points[i]) && cost(points[j]) == cost(points[i]);
      if (!same || j < i) best[i] = false;
    }
  return best;
}

}  // namespace undertext
