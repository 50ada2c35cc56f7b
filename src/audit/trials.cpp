#include "audit/trials.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "audit/version.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"
#include "report/results.h"

namespace undertext {

using nlohmann::json;

void TrialRows::append(TrialRows more) {
  const auto move_to = [](json& to, json& from) {
    for (json& entry : from) to.push_back(std::move(entry));
  };
  move_to(rows, more.rows);
  move_to(samples, more.samples);
  move_to(impossible, more.impossible);
  for (json& entry : more.privacy)
    if (std::ranges::find(privacy, entry) == privacy.end()) privacy.push_back(std::move(entry));
}

void TrialRows::add_impossible(const std::string& attack, const std::string& threat_model,
                               const DefencePlan& plan, const std::string& why) {
  impossible.push_back(
      {{"attack", attack}, {"threat_model", threat_model}, {"defence", defence_json(plan)}, {"why", why}});
}

void TrialRows::add_promise(const DefencePlan& plan, const std::string& of, const Guarantee& promise) {
  TrialRows one;
  one.privacy.push_back({{"spec", plan.text()}, {"statement", of + ":\n" + promise.statement}});
  append(std::move(one));
}

json defence_json(const DefencePlan& plan) {
  if (plan.none())
    return {{"kind", "none"}, {"title", "none"}, {"spec", ""}, {"parameter", nullptr}, {"strength", nullptr}};
  std::vector<std::string> kinds, titles;
  for (const DefenceSpec& spec : plan.specs()) {
    kinds.push_back(spec.kind);
    titles.push_back(defence_kind(spec.kind).title);
  }
  // Of several the last, which the others prepare.
  const DefenceSpec& last = plan.specs().back();
  const std::string& parameter = defence_kind(last.kind).strength;
  return {{"kind", fmt::format("{}", fmt::join(kinds, "+"))},
          {"title", fmt::format("{}", fmt::join(titles, " and "))},
          {"spec", plan.text()},
          {"parameter", parameter.empty() ? json() : json(parameter)},
          {"strength", parameter.empty() ? json() : json(last.strength())}};
}

const DefencePlan* DefenceSet::add(const DefencePlan& plan) {
  const auto [found, fresh] = plans_.try_emplace(plan.text());
  if (fresh) {
    if (const auto why = obstacle_(plan))
      for (const std::string& threat : threat_models_)
        refused_.add_impossible("every attack", threat, plan, *why);
    else
      found->second = plan;
  }
  return found->second ? &*found->second : nullptr;
}

std::vector<DefencePlan> DefenceSet::possible() const {
  std::vector<DefencePlan> all;
  for (const auto& [spec, plan] : plans_)
    if (plan) all.push_back(*plan);
  return all;
}

TrialRows run_trials(const std::string& title, std::span<const Trial> trials,
                     const std::function<void(const Trial&, TrialRows&)>& run) {
  std::vector<TrialRows> each(trials.size());
  {
    Progress progress(title, std::ssize(trials), "trials");
    parallel_for(std::ssize(trials), [&](std::int64_t i) {
      const Trial& trial = trials[static_cast<std::size_t>(i)];
      run(trial, each[static_cast<std::size_t>(i)]);
      progress.advance(1, trial.plan->none() ? "no defence" : trial.plan->text());
    });
  }
  TrialRows all;
  for (TrialRows& rows : each) all.append(std::move(rows));
  return all;
}

DefencePlan parse_plan(const std::string& spec) {
  std::vector<std::string> parts;
  std::istringstream words(spec);
  for (std::string part; words >> part;) parts.push_back(part);
  if (parts.empty()) fail("a defence that is empty, expected one such as dpsgd:clip=1,sigma=0.5");
  return DefencePlan::parse(parts);
}

std::vector<DefencePlan> chosen_defences(std::span<const std::string> given,
                                         std::span<const std::string> everything) {
  for (const char* alone : {"all", "none"})
    if (given.size() > 1 && std::ranges::find(given, alone) != given.end())
      fail("\"{}\" among other defences, expected it alone", alone);
  if (given.size() == 1 && given.front() == "none") return {};
  if (given.size() == 1 && given.front() == "all") given = everything;
  std::vector<DefencePlan> plans;
  std::vector<std::string> seen;
  for (const std::string& spec : given) {
    DefencePlan plan = parse_plan(spec);
    if (std::ranges::find(seen, plan.text()) != seen.end()) continue;
    seen.push_back(plan.text());
    plans.push_back(std::move(plan));
  }
  return plans;
}

json results_json(const AuditFacts& facts, TrialRows rows) {
  return {{"format", "undertext-results"},
          {"format_version", kResultsVersion},
          {"version", kVersion},
          {"command", facts.command},
          {"preset", facts.preset},
          {"seed", facts.seed},
          {"seconds", facts.seconds},
          {"model", facts.model},
          {"threat_models", facts.threat_models},
          {"rows", std::move(rows.rows)},
          {"samples", std::move(rows.samples)},
          {"impossible", std::move(rows.impossible)},
          {"privacy", std::move(rows.privacy)}};
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace undertext
